/* SPDX-License-Identifier: MIT
 *
 * The four functions that GCC calls on its own, even in a freestanding program without a libc, and strlen, which
 * std::string_view calls. The build compiles this file with -fno-tree-loop-distribute-patterns: otherwise GCC would replace each
 * loop by a call of the function that contains it. */
#include <stddef.h>
#include <stdint.h>

void* memcpy(void* restrict to, const void* restrict from, size_t count);
void* memmove(void* to, const void* from, size_t count);
void* memset(void* to, int value, size_t count);
int memcmp(const void* a, const void* b, size_t count);
size_t strlen(const char* text);

typedef uint32_t __attribute__((may_alias)) Word;

static int is_aligned(const void* address) { return (uintptr_t)address % sizeof(Word) == 0; }

static void copy_forward(uint8_t* to, const uint8_t* from, size_t count) {
  if (is_aligned(to) && is_aligned(from)) {
    for (; count >= sizeof(Word); count -= sizeof(Word), to += sizeof(Word), from += sizeof(Word)) *(Word*)to = *(const Word*)from;
  }
  while (count-- != 0) *to++ = *from++;
}

static void copy_backward(uint8_t* to, const uint8_t* from, size_t count) {
  while (count-- != 0) to[count] = from[count];
}

void* memcpy(void* restrict to, const void* restrict from, size_t count) {
  copy_forward(to, from, count);
  return to;
}

void* memmove(void* to, const void* from, size_t count) {
  if ((uintptr_t)to <= (uintptr_t)from) {
    copy_forward(to, from, count);
  } else {
    copy_backward(to, from, count);
  }
  return to;
}

void* memset(void* to, int value, size_t count) {
  uint8_t* byte = to;
  const Word word = (uint8_t)value * 0x01010101u;
  if (is_aligned(byte)) {
    for (; count >= sizeof(Word); count -= sizeof(Word), byte += sizeof(Word)) *(Word*)byte = word;
  }
  while (count-- != 0) *byte++ = (uint8_t)value;
  return to;
}

int memcmp(const void* a, const void* b, size_t count) {
  const uint8_t* left = a;
  const uint8_t* right = b;
  for (size_t i = 0; i < count; ++i) {
    if (left[i] != right[i]) return left[i] - right[i];
  }
  return 0;
}

size_t strlen(const char* text) {
  const char* end = text;
  while (*end != 0) ++end;
  return (size_t)(end - text);
}
