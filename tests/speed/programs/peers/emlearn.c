/* SPDX-License-Identifier: MIT
 *
 * emlearn, from the folder that --emlearn names: its header defines its functions. */
#include <eml_net.h>
