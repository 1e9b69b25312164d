// SPDX-License-Identifier: MIT
//
// Prints whether an ESP32 computes the same bits, and its cycles by the counter of its core.
#define TINYATTN_CERTIFY_BYTES (64 * 1024)
#include "print_certificate.hpp"

#if __has_include(<sdkconfig.h>) && __has_include(<esp_cpu.h>)
#include <esp_cpu.h>
#include <sdkconfig.h>

extern "C" void app_main() {
  print_certificate(CONFIG_IDF_TARGET, "esp_cpu", [] { return static_cast<std::uint32_t>(esp_cpu_get_cycle_count()); });
}
#else
extern "C" void app_main() { print_certificate("without-esp-idf"); }
#endif
