// SPDX-License-Identifier: MIT
//
// Declarations of QEMU's plugin interface: Debian 12 ships QEMU without the header. They are the same in version 1, which QEMU 7 and 8
// have, and from version 2 on, which QEMU 9 requires; but for qemu_plugin_insn_data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
struct qemu_plugin_tb;
struct qemu_plugin_insn;
using Plugin = std::uint64_t;
struct qemu_info_t {  // its beginning
  const char* target_name;
  int least_version, version;
};
using Runs = void (*)(unsigned core, void*);
using Accesses = void (*)(unsigned core, std::uint32_t information, std::uint64_t address, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(Plugin, void (*translated)(Plugin, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, Runs, int registers, void*);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, Runs, int registers, void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, Accesses, int registers, int kinds, void*);
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
const char* qemu_plugin_insn_symbol(const qemu_plugin_insn*);
unsigned qemu_plugin_mem_size_shift(std::uint32_t information);
// Until version 2 returns the address of the bytes, and takes only the instruction; since then copies them.
std::uintptr_t qemu_plugin_insn_data(const qemu_plugin_insn*, void* copy, std::size_t bytes);
[[gnu::weak]] void* qemu_plugin_scoreboard_new(std::size_t);  // since QEMU 9

[[gnu::visibility("default")]] extern int qemu_plugin_version;
[[gnu::visibility("default")]] int qemu_plugin_install(Plugin, const qemu_info_t*, int, char**);
}

constexpr int no_registers = 0, loads_and_stores = 3;
