/* SPDX-License-Identifier: MIT
 *
 * The version of the library. */
#ifndef TINYATTN_VERSION

/* For the preprocessor, with two digits for each part: 0.3.0 is 300. */
#define TINYATTN_VERSION 300

#endif
