/* SPDX-License-Identifier: MIT */
#ifndef TINYATTN_TICKS_H
#define TINYATTN_TICKS_H

void start_ticks(void);
void ticks_handler(void);

#endif
