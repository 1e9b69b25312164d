/* SPDX-License-Identifier: MIT
 *
 * Stands for layer.cpp in the same firmware without the library. */
void attend(void);
void attend(void) {}
