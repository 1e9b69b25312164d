// SPDX-License-Identifier: MIT
//
// Calls every operation of the compiled library with drawn shapes. Each call has memory of exactly the promised size, must write nothing
// else, and must compute the bits of plain loops, whatever scratch and caches held before. Each operation has a CRC-32 of all its outputs,
// the same on every target.
//
//     TINYATTN_PORT=avx2 answers [CALLS]
#include "models.hpp"
#include "operations.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace tinyattn::test;

constexpr unsigned long committed_calls = 200;

struct Operation {
  const char* name;
  void (*call)(Call&);
  std::uint32_t crc;  // of committed_calls
};
constexpr Operation operations[] = {
    {"matmul, matmul_transposed", multiply, 0x1bcba10c},
    {"softmax", softmax, 0x5df19ded},
    {"attention", attention, 0x98a47ccc},
    {"forward, cross_forward", layer<Kind::f32>, 0x3d48a59b},
    {"forward_int8, cross_forward_int8", layer<Kind::int8>, 0x4a34cacc},
    {"linear_forward_int8", linear_int8, 0x5b18c2df},
    {"conv1d", convolution<Kind::f32>, 0x02e33208},
    {"conv1d_int8", convolution<Kind::int8>, 0x77af5cc4},
    {"mean, largest, standardize, normalize, activate", rows, 0xf5aa9941},
    {"encoder_forward", encoder<Kind::f32>, 0x7285b6ba},
    {"encoder_forward_int8", encoder<Kind::int8>, 0xbf512d76},
    {"decoder_forward", decoder<Kind::f32>, 0x7a8d31bc},
    {"decoder_forward_int8", decoder<Kind::int8>, 0xb3e77acc},
    {"decoder_forward_int8_cache", decoder<Kind::int8_cache>, 0xb42b7ae4},
    {"argmax, sample", sampling, 0x5e7104c5},
    {"generate", generation<Kind::f32>, 0xf3e8aa79},
    {"generate_int8", generation<Kind::int8>, 0xc65ef574},
    {"generate_int8_cache", generation<Kind::int8_cache>, 0x3df168d3},
};

bool holds(const Operation& operation, unsigned long calls) {
  Crc crcs[2];
  const float garbage[2] = {quiet_nan, -0x1.5p+99f};
  for (unsigned long number = 1; number <= calls; ++number)
    for (int i = 0; i < 2; ++i) {
      Call call(number, garbage[i], crcs[i]);
      operation.call(call);
      if (const char* const failure = call.failure()) {
        std::printf("# call %lu: %s\n", number, failure);
        return false;
      }
    }
  const std::uint32_t crc = crcs[0].value();
  if (crcs[1].value() == crc && (calls != committed_calls || crc == operation.crc)) return true;
  std::printf("# CRC %08lx\n", static_cast<unsigned long>(crc));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("TINYATTN_PORT");
  if (wanted != nullptr && std::strcmp(wanted, tinyattn_port()) != 0) {
    std::printf("1..1\nok 1 - answers # SKIP this processor lacks %s\n", wanted);
    return 0;
  }
  const unsigned long calls = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : committed_calls;
  int number = 0, failures = 0;
  for (const Operation& operation : operations) {
    const bool is_right = holds(operation, calls);
    failures += !is_right;
    std::printf("%s %d - %s\n", is_right ? "ok" : "not ok", ++number, operation.name);
    std::fflush(stdout);
  }
  std::printf("1..%d\n", number);
  return failures != 0;
}
