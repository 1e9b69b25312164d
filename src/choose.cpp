// SPDX-License-Identifier: MIT
//
// Which of the ports in this library computes, on x86-64. TINYATTN_PORTS lists them, the best first; the last runs everywhere.
#include "features.hpp"
#include "operations.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>

#define TINYATTN_EACH_PORT(name)                                 \
  namespace tinyattn::on_##name##_with_library_##name::library { \
    extern const compiled::Operations operations;                \
  }
TINYATTN_PORTS
#undef TINYATTN_EACH_PORT

namespace tinyattn::compiled {

namespace {

#define TINYATTN_EACH_PORT(name) &on_##name##_with_library_##name::library::operations,
const Operations* const ports[] = {TINYATTN_PORTS};
#undef TINYATTN_EACH_PORT

// What this processor has and the operating system saves.
unsigned features_of_this_processor() noexcept {
  __builtin_cpu_init();
  unsigned features = 0;
#define TINYATTN_FEATURE(feature, name) features |= __builtin_cpu_supports(name) ? unsigned{feature} : 0u
  TINYATTN_FEATURE(sse3, "sse3");
  TINYATTN_FEATURE(ssse3, "ssse3");
  TINYATTN_FEATURE(sse4_1, "sse4.1");
  TINYATTN_FEATURE(sse4_2, "sse4.2");
  TINYATTN_FEATURE(popcnt, "popcnt");
  TINYATTN_FEATURE(avx, "avx");
  TINYATTN_FEATURE(avx2, "avx2");
  TINYATTN_FEATURE(fma, "fma");
  TINYATTN_FEATURE(bmi, "bmi");
  TINYATTN_FEATURE(bmi2, "bmi2");
  TINYATTN_FEATURE(avx512f, "avx512f");
  TINYATTN_FEATURE(avx512bw, "avx512bw");
  TINYATTN_FEATURE(avx512cd, "avx512cd");
  TINYATTN_FEATURE(avx512dq, "avx512dq");
  TINYATTN_FEATURE(avx512vl, "avx512vl");
#undef TINYATTN_FEATURE
  return features;
}

// The port that the environment asks for, or else the best.
const Operations& choose() noexcept {
  const unsigned has = features_of_this_processor();
  const char* const wanted = std::getenv("TINYATTN_PORT");
  const Operations* best = nullptr;
  for (const Operations* port : ports) {
    if ((port->needs & ~has) != 0) continue;
    if (wanted != nullptr && std::strcmp(wanted, port->port) == 0) return *port;
    if (best == nullptr) best = port;
  }
  return best != nullptr ? *best : **(std::end(ports) - 1);
}

// Threads that find it empty at once choose the same.
std::atomic<const Operations*> chosen = nullptr;

}  // namespace

const Operations& chosen_operations() noexcept {
  const Operations* operations = chosen.load(std::memory_order_relaxed);
  if (operations == nullptr) chosen.store(operations = &choose(), std::memory_order_relaxed);
  return *operations;
}

}  // namespace tinyattn::compiled
