// SPDX-License-Identifier: MIT
#include "refused.c"
