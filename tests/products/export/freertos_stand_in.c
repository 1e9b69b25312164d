/* SPDX-License-Identifier: MIT
 *
 * See freertos_stand_in.h. The task runs on its own stack, filled with a pattern as FreeRTOS does. */
#include <string.h>

#include "FreeRTOS.h"

enum { PATTERN = 0xa5 };

static TaskHandle_t the_task;

TaskHandle_t xTaskCreateStatic(TaskFunction_t function, const char* name, configSTACK_DEPTH_TYPE depth, void* argument,
                               UBaseType_t priority, StackType_t* stack, StaticTask_t* state) {
  (void)name;
  (void)priority;
  memset(stack, PATTERN, depth * sizeof *stack);
  *state = (StaticTask_t){function, argument, stack, stack + depth};
  return the_task = state;
}

void vTaskStartScheduler(void) {
  register void* r0 __asm__("r0") = the_task->argument;
  __asm__ volatile("mov sp, %1\n blx %2" : : "r"(r0), "r"((uintptr_t)the_task->top & ~(uintptr_t)7), "r"(the_task->function) : "memory");
  __builtin_unreachable(); /* a task does not return */
}

UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task) {
  const TaskHandle_t its = task != 0 ? task : the_task;
  const uint8_t* byte = (const uint8_t*)its->bottom;
  while (*byte == PATTERN) ++byte;
  return (UBaseType_t)(byte - (const uint8_t*)its->bottom) / sizeof(StackType_t);
}

QueueHandle_t xQueueCreateStatic(UBaseType_t length, UBaseType_t item_size, uint8_t* items, StaticQueue_t* state) {
  *state = (StaticQueue_t){items, length, item_size, 0, 0};
  return state;
}

BaseType_t xQueueSendFromISR(QueueHandle_t queue, const void* item, BaseType_t* is_woken) {
  if (queue->count == queue->length) return pdFALSE;
  const UBaseType_t i = (queue->first + queue->count++) % queue->length;
  memcpy(queue->items + i * queue->item_size, item, queue->item_size);
  *is_woken = pdTRUE;
  return pdTRUE;
}

BaseType_t xQueueReceive(QueueHandle_t queue, void* item, TickType_t ticks) {
  for (; queue->count == 0; --ticks) {
    if (ticks == 0) return pdFALSE;
    vApplicationTickHook();
  }
  memcpy(item, queue->items + queue->first * queue->item_size, queue->item_size);
  queue->first = (queue->first + 1) % queue->length;
  --queue->count;
  return pdTRUE;
}
