// SPDX-License-Identifier: MIT
//
// A QEMU plugin, for boards and for programs of another machine: at each call of count_end, prints how many instructions ran since
// count_begin, without those of interrupts, and how many cycles they take on each core that an option names:
//
//     qemu-system-arm ... -plugin counter.so,core=cortex-m0,core=cortex-m33 -d plugin      prints 5102 cortex-m0=9000 cortex-m33=8000..8100
//
// With at=FUNCTION, it prints that at each call of this function, too; with trace=on, before it, what trace.hpp says. Of an instruction
// that ran and the decoder does not know, it prints the code.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "m0.hpp"
#include "m33_m55.hpp"
#include "m3_m4.hpp"
#include "m7.hpp"
#include "qemu.hpp"
#include "trace.hpp"

using namespace tinyattn::cycles;

namespace {

struct Model {
  std::string name;
  std::unique_ptr<Core> bounds[2];  // of most cores only one
  std::uint64_t begun[2] = {};
};

// Never destroyed: QEMU calls back until its process has ended.
auto& models = *new std::vector<Model>;
auto& decoded = *new std::deque<Instruction>;
auto& printed_at = *new std::string;
std::uint64_t entry = 0;  // of that function
bool has_helium = false, copies_code = false, prints_trace = false;
Trace trace;
std::size_t instructions = 0;
const Instruction* last = nullptr;  // has begun; what it costs also depends on the one that follows
bool last_accessed = false;
unsigned last_unaligned = 0, left_of_it = 0;

bool add_model(std::string_view name) {
  const auto bounded = [&](auto make) { models.push_back({std::string(name), {make(Bound::least), make(Bound::most)}}); };
  const auto exact = [&](auto core) { models.push_back({std::string(name), {std::move(core), nullptr}}); };
  if (name == "cortex-m0") exact(std::make_unique<M0>(false));
  if (name == "cortex-m0plus") exact(std::make_unique<M0>(true));
  if (name == "cortex-m3") exact(std::make_unique<M3M4>(false));
  if (name == "cortex-m4") exact(std::make_unique<M3M4>(true));
  if (name == "cortex-m7") bounded([](Bound bound) { return std::make_unique<M7>(bound); });
  if (name == "cortex-m33") bounded([](Bound bound) { return std::make_unique<M33>(bound); });
  if (name == "cortex-m55") bounded([](Bound bound) { return std::make_unique<M55>(bound); });
  has_helium = has_helium || name == "cortex-m55";
  return !models.empty() && models.back().name == name;
}

// Takes the last instruction out of its IT block. Returns whether it was in one: then a condition decides whether it has an effect.
bool leaves_it_block() {
  if (last->kind == Kind::it) left_of_it = last->count;
  if (last->kind == Kind::it || left_of_it == 0) return false;
  --left_of_it;
  return true;
}

// Charges the last instruction, now that the next one is known.
void charge(const Instruction* next) {
  if (last == nullptr) return;
  const bool taken = next != nullptr && next->address != last->address + (last->wide ? 4 : 2);
  const bool conditional = leaves_it_block();
  const bool skipped = conditional && ((is_access(last->kind) && !last_accessed) || (is_branch(last->kind) && !taken));
  const Executed executed = {*last, taken, skipped, last_unaligned};
  if (prints_trace) trace.run(executed, conditional);
  for (Model& model : models)
    for (const std::unique_ptr<Core>& core : model.bounds)
      if (core) core->execute(executed);
  last = nullptr;
}

// --- What QEMU calls: before an instruction, at its accesses, and before a block of instructions

void begins(unsigned, void* instruction) {
  auto* next = static_cast<Instruction*>(instruction);
  charge(next);
  last = next;
  last_accessed = false;
  last_unaligned = 0;
  if (next->kind != Kind::unknown) return;
  std::printf("unknown instruction %x at %x\n", next->code, next->address);
  next->kind = Kind::other;
}

void accesses(unsigned, std::uint32_t information, std::uint64_t where, void*) {
  const unsigned bytes = 1u << qemu_plugin_mem_size_shift(information);
  last_accessed = true;
  trace.access(where);
  const bool is_single = last->kind == Kind::load || last->kind == Kind::store;
  if (is_single && where % bytes != 0) last_unaligned = bytes == 4 && where % 2 != 0 ? 2 : 1;
}

void runs(unsigned, void* size) { instructions += reinterpret_cast<std::uintptr_t>(size); }

void restart(unsigned, void*) {
  charge(nullptr);
  instructions = 0;
  trace = {};
  for (Model& model : models)
    for (std::size_t i = 0; i < 2; ++i) model.begun[i] = model.bounds[i] ? model.bounds[i]->cycles() : 0;
}

void print(unsigned, void*) {
  if (prints_trace)
    std::printf("\ntrace %016llx %016llx %zu %zu %zu", static_cast<unsigned long long>(trace.path),
                static_cast<unsigned long long>(trace.addresses), trace.divisions, trace.long_products, trace.conditional);
  std::printf("\n%zu", instructions);  // the program may be within a line
  for (const Model& model : models) {
    std::printf(" %s", model.name.c_str());
    for (std::size_t i = 0; i < 2 && model.bounds[i]; ++i)
      std::printf("%s%llu", i == 0 ? "=" : "..", static_cast<unsigned long long>(model.bounds[i]->cycles() - model.begun[i]));
  }
  std::printf("\n");
  std::fflush(stdout);
}

Instruction decoded_from(const qemu_plugin_insn* instruction) {
  // At the end of a page QEMU may say that an instruction has the bytes of the next, too.
  const std::size_t said = std::min<std::size_t>(qemu_plugin_insn_size(instruction), 4);
  std::uint16_t halves[2] = {};
  const std::uintptr_t data = qemu_plugin_insn_data(instruction, halves, said);
  if (!copies_code) std::memcpy(halves, reinterpret_cast<const void*>(data), said);
  const bool wide = is_wide(halves[0]);
  const std::uint32_t code = wide ? std::uint32_t{halves[0]} << 16 | halves[1] : halves[0];
  return decode(static_cast<std::uint32_t>(qemu_plugin_insn_vaddr(instruction)), code, wide, has_helium);
}

void watch(qemu_plugin_insn* instruction) {
  Instruction& its = decoded.emplace_back(decoded_from(instruction));
  qemu_plugin_register_vcpu_insn_exec_cb(instruction, begins, no_registers, &its);
  if (is_access(its.kind)) qemu_plugin_register_vcpu_mem_cb(instruction, accesses, no_registers, loads_and_stores, nullptr);
}

void translated(Plugin, qemu_plugin_tb* block) {
  qemu_plugin_insn* first = qemu_plugin_tb_get_insn(block, 0);
  const char* symbol = qemu_plugin_insn_symbol(first);
  const std::string_view function = symbol == nullptr ? "" : symbol;
  if (function == "ticks_handler") return;  // an interrupt
  const std::size_t size = qemu_plugin_tb_n_insns(block);
  const std::uint64_t address = qemu_plugin_insn_vaddr(first);
  for (std::size_t i = 0; i < size && !models.empty(); ++i) watch(qemu_plugin_tb_get_insn(block, i));
  if (function == printed_at && !function.empty() && entry == 0) entry = address;  // a call comes before any other block
  const bool is_begin = function == "count_begin", is_end = function == "count_end";
  if (is_begin) qemu_plugin_register_vcpu_insn_exec_cb(first, restart, no_registers, nullptr);
  if (is_end || address == entry) qemu_plugin_register_vcpu_insn_exec_cb(first, print, no_registers, nullptr);
  if (!is_begin && !is_end) qemu_plugin_register_vcpu_tb_exec_cb(block, runs, no_registers, reinterpret_cast<void*>(size));
}

}  // namespace

int qemu_plugin_version = qemu_plugin_scoreboard_new == nullptr ? 1 : 2;

int qemu_plugin_install(Plugin plugin, const qemu_info_t* qemu, int count, char** options) {
  copies_code = qemu->version > 2;
  for (const std::string_view option : std::span(options, static_cast<std::size_t>(count))) {
    constexpr std::string_view core = "core=", at = "at=";
    if (option.starts_with(core) && add_model(option.substr(core.size()))) continue;
    if (option.starts_with(at)) {
      printed_at = option.substr(at.size());
      continue;
    }
    if (option == "trace=on") {
      prints_trace = true;
      continue;
    }
    std::fprintf(stderr, "counter: there is no %.*s\n", static_cast<int>(option.size()), option.data());
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  return 0;
}
