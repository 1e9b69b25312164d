// SPDX-License-Identifier: MIT
//
// Chooses one of TINYATTN_PORTS on x86-64. The best is first; the last runs on every processor.
#include "dispatch.hpp"
#include "features.hpp"

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

// Returns the features that this processor has, and whose registers the operating system saves.
unsigned features_of_this_processor() noexcept {
  __builtin_cpu_init();
#define TINYATTN_IS_THERE(name, macro) __builtin_cpu_supports(name) != 0,
  return bits({TINYATTN_FEATURES(TINYATTN_IS_THERE)});
#undef TINYATTN_IS_THERE
}

// Returns the port that the environment variable TINYATTN_PORT names, if this processor can run it,
// or else the best.
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

// Several threads may find `chosen` empty at the same time: they choose the same port.
const Operations& tinyattn::compiled::chosen_operations() noexcept {
  static std::atomic<const Operations*> chosen = nullptr;
  const Operations* operations = chosen.load(std::memory_order_relaxed);
  if (operations == nullptr) chosen.store(operations = &choose(), std::memory_order_relaxed);
  return *operations;
}
