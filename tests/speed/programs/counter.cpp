// SPDX-License-Identifier: MIT
//
// A plugin for QEMU, for boards and for programs of another machine: how often each block of instructions ran between
// two functions.
//
//   qemu... -plugin counter.so,begin=ADDRESS,end=ADDRESS,out=FILE
//
// For each time that `end` is reached the file has a line "region", and a line for each block that ran since `begin`: where it
// starts, its instructions, how often it ran; then, for each block that followed, where that starts and how often.
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

// What QEMU promises its plugins, version 1 of the interface: Debian ships QEMU without the header.
extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
using Plugin = std::uint64_t;
void qemu_plugin_register_vcpu_tb_trans_cb(Plugin, void (*translated)(Plugin, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*executed)(unsigned core, void*), int registers, void*);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);

[[gnu::visibility("default")]] extern int qemu_plugin_version;
[[gnu::visibility("default")]] int qemu_plugin_install(Plugin, const void*, int, char**);
int qemu_plugin_version = 1;
}

namespace {

struct Block {
  std::uint64_t start;
  std::size_t instructions;
  std::uint64_t runs = 0;
  std::map<std::uint64_t, std::uint64_t> next = {};
};

// Blocks that were translated, once each however often QEMU translates them.
std::map<std::pair<std::uint64_t, std::size_t>, std::unique_ptr<Block>> blocks;
Block* last = nullptr;
std::uint64_t begin_address;
std::uint64_t end_address;
std::FILE* out;

void begin_region() {
  for (auto& [place, block] : blocks) {
    block->runs = 0;
    block->next.clear();
  }
  last = nullptr;
}

void print_block(const Block& block) {
  std::fprintf(out, "%" PRIu64 " %zu %" PRIu64, block.start, block.instructions, block.runs);
  for (const auto& [start, times] : block.next) std::fprintf(out, " %" PRIu64 " %" PRIu64, start, times);
  std::fprintf(out, "\n");
}

void end_region() {
  std::fprintf(out, "region\n");
  for (const auto& [place, block] : blocks)
    if (block->runs != 0) print_block(*block);
  std::fflush(out);
}

void executed(unsigned, void* data) {
  Block* block = static_cast<Block*>(data);
  if (block->start == begin_address) return begin_region();
  if (block->start == end_address) return end_region();
  if (last != nullptr) ++last->next[block->start];
  ++block->runs;
  last = block;
}

void translated(Plugin, qemu_plugin_tb* translation) {
  const std::size_t instructions = qemu_plugin_tb_n_insns(translation);
  const std::uint64_t start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(translation, 0));
  auto& block = blocks[{start, instructions}];
  if (!block) block = std::make_unique<Block>(Block{start, instructions});
  constexpr int no_registers = 0;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, executed, no_registers, block.get());
}

// The value of "name=value", or nothing.
const char* value_of(std::string_view name, const char* argument) {
  const std::string_view text(argument);
  return text.starts_with(name) && text.substr(name.size()).starts_with('=') ? argument + name.size() + 1 : nullptr;
}

}  // namespace

int qemu_plugin_install(Plugin plugin, const void*, int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    if (const char* value = value_of("begin", argv[i])) begin_address = std::strtoull(value, nullptr, 0);
    if (const char* value = value_of("end", argv[i])) end_address = std::strtoull(value, nullptr, 0);
    if (const char* value = value_of("out", argv[i])) out = std::fopen(value, "w");
  }
  if (out == nullptr) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  return 0;
}
