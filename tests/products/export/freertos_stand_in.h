/* SPDX-License-Identifier: MIT
 *
 * A stand-in for the FreeRTOS kernel, which Debian does not have: the functions that from_sensor_to_product.md calls, with the names and
 * types of "FreeRTOS API Reference" for V11. One task, and queues that it alone reads; a tick passes when it waits. */
#pragma once
#include <stdint.h>

#include "FreeRTOSConfig.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t, StackType_t, configSTACK_DEPTH_TYPE;
typedef void (*TaskFunction_t)(void* argument);
typedef struct {
  TaskFunction_t function;
  void* argument;
  StackType_t *bottom, *top;
} StaticTask_t;
typedef struct {
  uint8_t* items;
  UBaseType_t length, item_size, first, count;
} StaticQueue_t;
typedef StaticTask_t* TaskHandle_t;
typedef StaticQueue_t* QueueHandle_t;

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define portMAX_DELAY ((TickType_t)0xffffffffu)
#define portYIELD_FROM_ISR(is_woken) ((void)(is_woken))

TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char* name, configSTACK_DEPTH_TYPE depth, void* argument,
                               UBaseType_t priority, StackType_t* stack, StaticTask_t* state);
void vTaskStartScheduler(void);
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task);
QueueHandle_t xQueueCreateStatic(UBaseType_t length, UBaseType_t item_size, uint8_t* items, StaticQueue_t* state);
BaseType_t xQueueSendFromISR(QueueHandle_t queue, const void* item, BaseType_t* is_woken);
BaseType_t xQueueReceive(QueueHandle_t queue, void* item, TickType_t ticks);
void vApplicationTickHook(void);
void vApplicationStackOverflowHook(TaskHandle_t task, char* name);

#ifdef __cplusplus
}
#endif
