/* SPDX-License-Identifier: MIT
 *
 * What llama2.c needs of this header to compile for a board, where nothing calls these functions. */
#pragma once

#include <stddef.h>

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED ((void*)-1)

void* mmap(void* address, size_t size, int protection, int flags, int file, long offset);
int munmap(void* address, size_t size);
