// SPDX-License-Identifier: MIT
//
// A plugin for QEMU, for boards and for programs of another machine: prints how many instructions ran between the functions count_begin and
// count_end, at each call of the second. It does not count those of an interrupt.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string_view>

// Declarations of QEMU's plugin interface, version 1: Debian ships QEMU without the header.
extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
using Plugin = std::uint64_t;
void qemu_plugin_register_vcpu_tb_trans_cb(Plugin, void (*translated)(Plugin, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*executed)(unsigned core, void*), int registers, void*);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
const char* qemu_plugin_insn_symbol(const qemu_plugin_insn*);

[[gnu::visibility("default")]] extern int qemu_plugin_version;
[[gnu::visibility("default")]] int qemu_plugin_install(Plugin, const void*, int, char**);
int qemu_plugin_version = 1;
}

namespace {

enum class Place { begin, end, interrupt, elsewhere };

// Instructions that QEMU translated together.
struct Block {
  Place place;
  std::size_t instructions;
};

std::deque<Block> blocks;
std::size_t count;

void executed(unsigned, void* data) {
  const Block& block = *static_cast<Block*>(data);
  if (block.place == Place::begin) count = 0;
  if (block.place == Place::elsewhere) count += block.instructions;
  if (block.place == Place::end) {
    std::printf("%zu\n", count);
    std::fflush(stdout);
  }
}

Place place_of(const char* symbol) {
  const std::string_view function = symbol == nullptr ? "" : symbol;
  if (function == "count_begin") return Place::begin;
  if (function == "count_end") return Place::end;
  return function == "ticks_handler" ? Place::interrupt : Place::elsewhere;
}

void translated(Plugin, qemu_plugin_tb* translation) {
  const char* symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(translation, 0));
  blocks.push_back({place_of(symbol), qemu_plugin_tb_n_insns(translation)});
  constexpr int no_registers = 0;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, executed, no_registers, &blocks.back());
}

}  // namespace

int qemu_plugin_install(Plugin plugin, const void*, int, char**) {
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  return 0;
}
