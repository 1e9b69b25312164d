// SPDX-License-Identifier: MIT
//
// Computes the layer of layer.h by the library and by the headers, and prints both checksums on the console.
#pragma once

#include <cinttypes>
#include <cstdio>

#include "by_library.h"
#include "crc32.h"
#include "layer.h"

// Returns whether both give the same bits.
inline bool print_layer() {
  float by_library[num_tokens * d_out], by_headers[num_tokens * d_out];
  if (!forward_by_library(by_library)) return false;
  forward_by_headers(by_headers);
  const std::uint32_t of_library = crc32(0, by_library, num_tokens * d_out);
  const std::uint32_t of_headers = crc32(0, by_headers, num_tokens * d_out);
  std::printf("crc32 of the library      %08" PRIx32 "\n", of_library);
  std::printf("crc32 of the C++ headers  %08" PRIx32 "\n", of_headers);
  return of_library == of_headers;
}
