/* SPDX-License-Identifier: MIT
 *
 * The counter of cycles of a chip with Arduino's core: its name and function; null for the one that tinyattn_certify finds itself. */
#ifndef TINYATTN_ARDUINO_COUNTER_H
#define TINYATTN_ARDUINO_COUNTER_H

#include <Arduino.h>

#if defined(ESP32)
static const char* const counter = "esp_cpu";
static uint32_t cycles() { return ESP.getCycleCount(); }
#elif defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
static const char* const counter = "micros"; /* Arduino's core uses SysTick */
static uint32_t cycles() { return micros() * (F_CPU / 1000000); }
#else
static const char* const counter = nullptr;
static uint32_t (*const cycles)() = nullptr;
#endif

#endif
