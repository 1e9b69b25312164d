/* SPDX-License-Identifier: MIT
 *
 * The version of the headers, for C, C++ and their preprocessor. */
#ifndef TINYATTN_VERSION

#define TINYATTN_VERSION_MAJOR 0        /* the first number of the version */
#define TINYATTN_VERSION_MINOR 3        /* the second */
#define TINYATTN_VERSION_PATCH 0        /* the third */
#define TINYATTN_VERSION_STRING "0.3.0" /* all three as text */
/* With two digits for each part, so that versions compare as numbers: 0.3.0 is 300. */
#define TINYATTN_VERSION \
  (TINYATTN_VERSION_MAJOR * 10000 + TINYATTN_VERSION_MINOR * 100 + TINYATTN_VERSION_PATCH)

#endif
