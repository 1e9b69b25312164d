/* SPDX-License-Identifier: MIT
 *
 * The version of the library, for the preprocessor: a hundred to each part, so that 0.3.0 is 300. */
#ifndef TINYATTN_VERSION

#define TINYATTN_VERSION 300

#endif
