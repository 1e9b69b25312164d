// SPDX-License-Identifier: MIT
//
// Which of TINYATTN_PORTS computes, on x86-64: the best is first, the last runs everywhere.
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

using namespace tinyattn::compiled;

namespace {

#define TINYATTN_EACH_PORT(name) &tinyattn::on_##name##_with_library_##name::library::operations,
const Operations* const ports[] = {TINYATTN_PORTS};
#undef TINYATTN_EACH_PORT

// What this processor has and the operating system saves.
unsigned features_of_this_processor() noexcept {
  __builtin_cpu_init();
#define TINYATTN_IS_THERE(name, macro) __builtin_cpu_supports(name) != 0,
  return bits({TINYATTN_FEATURES(TINYATTN_IS_THERE)});
#undef TINYATTN_IS_THERE
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

}  // namespace

// Threads that find `chosen` empty at once choose the same.
const Operations& tinyattn::compiled::chosen_operations() noexcept {
  static std::atomic<const Operations*> chosen = nullptr;
  const Operations* operations = chosen.load(std::memory_order_relaxed);
  if (operations == nullptr) chosen.store(operations = &choose(), std::memory_order_relaxed);
  return *operations;
}
