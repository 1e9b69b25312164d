// SPDX-License-Identifier: MIT
//
// A QEMU plugin, for boards and for programs of another machine: at each call of count_end, prints how many instructions ran since
// count_begin, without those of interrupts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

// Declarations of QEMU's plugin interface: Debian 12 ships QEMU without the header. They are the same in version 1, which QEMU 8 has, and
// from version 2 on, which QEMU 9 requires.
extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
using Plugin = std::uint64_t;
void qemu_plugin_register_vcpu_tb_trans_cb(Plugin, void (*translated)(Plugin, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*executed)(unsigned core, void*), int registers, void*);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
const char* qemu_plugin_insn_symbol(const qemu_plugin_insn*);
[[gnu::weak]] void* qemu_plugin_scoreboard_new(std::size_t);  // since QEMU 9

[[gnu::visibility("default")]] extern int qemu_plugin_version;
[[gnu::visibility("default")]] int qemu_plugin_install(Plugin, const void*, int, char**);
int qemu_plugin_version = qemu_plugin_scoreboard_new == nullptr ? 1 : 2;
}

namespace {

std::size_t count;

// What runs before each block of instructions, depending on the function that contains the block.
void restart(unsigned, void*) { count = 0; }
void add(unsigned, void* instructions) { count += reinterpret_cast<std::uintptr_t>(instructions); }
void print(unsigned, void*) {
  std::printf("%zu\n", count);
  std::fflush(stdout);
}

void translated(Plugin, qemu_plugin_tb* block) {
  const char* symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  const std::string_view function = symbol == nullptr ? "" : symbol;
  if (function == "ticks_handler") return;  // an interrupt
  const auto executed = function == "count_begin" ? restart : function == "count_end" ? print : add;
  constexpr int no_registers = 0;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, no_registers, reinterpret_cast<void*>(qemu_plugin_tb_n_insns(block)));
}

}  // namespace

int qemu_plugin_install(Plugin plugin, const void*, int, char**) {
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  return 0;
}
