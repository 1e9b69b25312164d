// SPDX-License-Identifier: MIT
//
// Decodes instructions of Thumb, Thumb-2 and VFP, and coarsely of Helium (MVE), as far as their cost depends on them: a kind, and sets of
// registers. Encodings: the Armv6-M, Armv7-M and Armv8-M Architecture Reference Manuals (DDI 0419, 0403, 0553).
#pragma once
#include <bit>
#include <cstdint>

namespace tinyattn::cycles {

enum class Kind {
  unknown,
  alu,
  bit_field,  // extends, reverses, saturates, extracts or inserts bits
  dsp,        // adds or subtracts bytes or halfwords
  nop,
  it,
  multiply,
  multiply_add,
  long_multiply,
  long_multiply_add,
  dsp_multiply,
  divide,
  special,  // MRS, MSR
  barrier,
  cps,
  other,  // BKPT, SVC: without a rule
  branch_if,
  branch,
  branch_register,
  call,
  loop,  // of Helium: starts or ends one
  load,
  store,
  load_two,
  store_two,
  load_many,
  store_many,
  load_pc,
  load_many_pc,
  table_branch,
  f_load,
  f_store,
  f_load_many,
  f_store_many,
  f_from_core,
  f_to_core,
  f_two_from_core,
  f_two_to_core,
  f_status,
  f_move,
  f_sign,  // absolute value, negation; and what Armv8-M added: VSEL, VMAXNM, VRINTA
  f_compare,
  f_add,
  f_multiply,
  f_multiply_add,
  f_convert,
  f_divide,
  f_root,
  v_load,
  v_store,
  v_multiply,  // or floats are added
  v_other,
};

constexpr bool is_float(Kind kind) { return kind >= Kind::f_load && kind <= Kind::f_root; }
constexpr bool is_vector(Kind kind) { return kind >= Kind::v_load; }
constexpr bool is_branch(Kind kind) {
  return (kind >= Kind::branch_if && kind <= Kind::call) || (kind >= Kind::load_pc && kind <= Kind::table_branch);
}
constexpr bool is_access(Kind kind) {
  return (kind >= Kind::load && kind <= Kind::f_store_many) || kind == Kind::v_load || kind == Kind::v_store;
}
constexpr bool is_store(Kind kind) {
  return kind == Kind::store || kind == Kind::store_two || kind == Kind::store_many || kind == Kind::f_store ||
         kind == Kind::f_store_many || kind == Kind::v_store;
}
constexpr bool is_load(Kind kind) { return is_access(kind) && !is_store(kind); }

// Sets of registers: bit n is register n. The program counter is in none.
using Registers = std::uint32_t;
constexpr Registers reg(std::uint32_t n) { return 1u << n; }

struct Instruction {
  std::uint32_t address = 0;
  std::uint32_t code = 0;  // of a wide instruction, the first halfword is the upper one
  bool wide = false;
  Kind kind = Kind::unknown;
  unsigned count = 0;  // words that are loaded or stored; instructions in an IT block

  Registers reads = 0, writes = 0;                    // operands and data; results
  Registers points = 0, advances = 0;                 // from which an address is computed; bases that are updated
  Registers f_reads = 0, f_addend = 0, f_writes = 0;  // of single precision; a double is two
  Registers v_reads = 0, v_writes = 0;                // of Helium

  bool sets_flags = false;
  bool by_register = false;  // the offset of an address
  bool shifted = false;      // an operand, or a constant that is rotated
  bool ends_loop = false;
};

namespace detail {

constexpr std::uint32_t field(std::uint32_t code, unsigned low, unsigned width) { return code >> low & ((1u << width) - 1); }
constexpr bool bit(std::uint32_t code, unsigned n) { return (code >> n & 1) != 0; }
// Of a field that is 15 where there is no register
constexpr Registers unless_pc(std::uint32_t n) { return n == 15 ? 0 : reg(n); }

constexpr void access(Instruction& i, bool load, Kind loads, Kind stores, Registers registers, Registers from) {
  i.kind = load ? loads : stores;
  (load ? i.writes : i.reads) = registers;
  i.points = from;
}

constexpr void transfer_many(Instruction& i, bool load, std::uint32_t list, std::uint32_t base, bool advances) {
  access(i, load, bit(list, 15) ? Kind::load_many_pc : Kind::load_many, Kind::store_many, list, reg(base));
  i.count = static_cast<unsigned>(std::popcount(list));
  i.advances = advances ? reg(base) : 0;
}

// --- 16 bits

constexpr void two_low_registers(Instruction& i, std::uint32_t c) {  // ANDS and the like
  const std::uint32_t operation = field(c, 6, 4), d = field(c, 0, 3), m = field(c, 3, 3);
  const bool compares = operation == 8 || operation == 10 || operation == 11, inverts = operation == 15;
  i.kind = operation == 13 ? Kind::multiply : Kind::alu;
  i.reads = (inverts ? 0 : reg(d)) | reg(m);
  i.writes = compares ? 0 : reg(d);
  i.sets_flags = true;
}

constexpr void any_registers(Instruction& i, std::uint32_t c) {  // ADD, CMP, MOV, BX, BLX
  const std::uint32_t operation = field(c, 8, 2), d = field(c, 0, 3) | (c >> 4 & 8), m = field(c, 3, 4);
  i.reads = reg(m) | (operation < 2 ? reg(d) : 0);
  i.sets_flags = operation == 1;
  i.kind = operation == 3 || (operation != 1 && d == 15) ? Kind::branch_register : Kind::alu;
  if (operation == 0 || operation == 2) i.writes = reg(d);
  if (operation == 3 && bit(c, 7)) i.writes = reg(14);
}

constexpr void miscellaneous(Instruction& i, std::uint32_t c) {
  const std::uint32_t d = field(c, 0, 3);
  i.kind = Kind::alu;
  switch (field(c, 8, 4)) {
    case 0:  // ADD SP, SUB SP
      i.reads = i.writes = reg(13);
      return;
    case 1:
    case 3:
    case 9:
    case 11:  // CBZ, CBNZ
      i.kind = Kind::branch_if;
      i.reads = reg(d);
      return;
    case 2:
    case 10:  // SXTH and the like; REV and the like
      i.kind = field(c, 6, 2) == 2 && bit(c, 11) ? Kind::other : Kind::bit_field;
      i.reads = reg(field(c, 3, 3));
      i.writes = reg(d);
      return;
    case 4:
    case 5:  // PUSH
      return transfer_many(i, false, field(c, 0, 8) | (bit(c, 8) ? reg(14) : 0), 13, true);
    case 6:
      i.kind = Kind::cps;
      return;
    case 12:
    case 13:  // POP
      return transfer_many(i, true, field(c, 0, 8) | (bit(c, 8) ? reg(15) : 0), 13, true);
    case 14:  // BKPT
      i.kind = Kind::other;
      return;
    case 15:
      i.kind = field(c, 0, 4) == 0 ? Kind::nop : Kind::it;
      i.count = i.kind == Kind::it ? 4 - static_cast<unsigned>(std::countr_zero(c)) : 0;
      return;
    default:
      i.kind = Kind::unknown;
  }
}

constexpr void decode_narrow(Instruction& i) {
  const std::uint32_t c = i.code, d = field(c, 0, 3), n = field(c, 3, 3), m = field(c, 6, 3), d8 = field(c, 8, 3);
  const bool load = bit(c, 11);
  switch (c >> 11) {
    case 0:
    case 1:
    case 2:  // shifts by a constant
      i.kind = Kind::alu;
      i.reads = reg(n);
      i.writes = reg(d);
      i.sets_flags = true;
      return;
    case 3:  // ADDS, SUBS of three
      i.kind = Kind::alu;
      i.reads = reg(n) | (bit(c, 10) ? 0 : reg(m));
      i.writes = reg(d);
      i.sets_flags = true;
      return;
    case 4:
    case 5:
    case 6:
    case 7:  // MOVS, CMP, ADDS, SUBS with a constant
      i.kind = Kind::alu;
      i.reads = c >> 11 == 4 ? 0 : reg(d8);
      i.writes = c >> 11 == 5 ? 0 : reg(d8);
      i.sets_flags = true;
      return;
    case 8:
      return bit(c, 10) ? any_registers(i, c) : two_low_registers(i, c);
    case 9:  // of a constant
      return access(i, true, Kind::load, Kind::store, reg(d8), 0);
    case 10:
    case 11:
      i.by_register = true;
      return access(i, field(c, 9, 3) >= 3, Kind::load, Kind::store, reg(d), reg(n) | reg(m));
    case 12:
    case 13:
    case 14:
    case 15:
    case 16:
    case 17:
      return access(i, load, Kind::load, Kind::store, reg(d), reg(n));
    case 18:
    case 19:
      return access(i, load, Kind::load, Kind::store, reg(d8), reg(13));
    case 20:
    case 21:  // ADR, ADD of SP
      i.kind = Kind::alu;
      i.reads = bit(c, 11) ? reg(13) : 0;
      i.writes = reg(d8);
      return;
    case 22:
    case 23:
      return miscellaneous(i, c);
    case 24:
    case 25:
      return transfer_many(i, load, field(c, 0, 8), d8, !load || !bit(c, d8));
    case 26:
    case 27:
      i.kind = field(c, 8, 4) == 15 ? Kind::other : field(c, 8, 4) == 14 ? Kind::unknown : Kind::branch_if;
      return;
    default:
      i.kind = c >> 11 == 28 ? Kind::branch : Kind::unknown;
  }
}

// --- 32 bits, as two halfwords

// A register of single precision, or the two of a double. Armv7E-M and Armv8-M have 16 doubles.
constexpr Registers f_reg(std::uint32_t four, bool one, bool is_double) {
  return is_double ? (one ? 0 : 3u << 2 * four) : 1u << (four << 1 | static_cast<std::uint32_t>(one));
}

constexpr void vfp_transfer(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const bool is_double = bit(b, 8), load = bit(a, 4), advances = bit(a, 5);
  const std::uint32_t n = field(a, 0, 4), words = field(b, 0, 8);
  if ((a & 0x0fe0) == 0x0c40) {  // VMOV of two registers
    i.kind = load ? Kind::f_two_to_core : Kind::f_two_from_core;
    (load ? i.writes : i.reads) = reg(field(b, 12, 4)) | reg(n);
    const Registers first = f_reg(field(b, 0, 4), bit(b, 5), is_double);
    (load ? i.f_reads : i.f_writes) = is_double ? first : first * 3;
    return;
  }
  const Registers first = f_reg(field(b, 12, 4), bit(a, 6), is_double);
  i.points = reg(n);
  if (bit(a, 8) && !advances) {  // VLDR, VSTR
    i.kind = load ? Kind::f_load : Kind::f_store;
    i.count = is_double ? 2 : 1;
    (load ? i.f_writes : i.f_reads) = first;
    return;
  }
  i.kind = load ? Kind::f_load_many : Kind::f_store_many;
  i.count = words;
  i.advances = advances ? reg(n) : 0;
  const Registers all = words >= 32 ? ~0u : (1u << words) - 1;
  (load ? i.f_writes : i.f_reads) = all * (first & -first);
}

constexpr void vfp_to_core(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const bool to_core = bit(a, 4), of_status = field(a, 5, 3) == 7;
  const Registers core = unless_pc(field(b, 12, 4)), single = f_reg(field(a, 0, 4), bit(b, 7), false);
  (to_core ? i.writes : i.reads) = core;
  if (!of_status) (to_core ? i.f_reads : i.f_writes) = single;
  i.kind = of_status ? Kind::f_status : to_core ? Kind::f_to_core : Kind::f_from_core;
}

constexpr void vfp_unary(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t operation = field(a, 0, 4), form = field(b, 6, 2);
  const bool is_double = bit(b, 8);
  const Registers d = f_reg(field(b, 12, 4), bit(a, 6), is_double), m = f_reg(field(b, 0, 4), bit(b, 5), is_double);
  i.f_writes = d;
  i.f_reads = bit(form, 0) ? m : 0;  // else of a constant
  if (!bit(form, 0) || (operation == 0 && form == 1)) {
    i.kind = Kind::f_move;
  } else if (operation <= 1) {
    i.kind = operation == 1 && form == 3 ? Kind::f_root : Kind::f_sign;
  } else if (operation == 4 || operation == 5) {
    i.kind = Kind::f_compare;
    i.f_reads = d | (operation == 4 ? m : 0);
    i.f_writes = 0;
  } else {
    i.kind = Kind::f_convert;
    const bool resizes = operation == 7;  // else an integer, which is in a register of single precision
    i.f_writes = resizes ? f_reg(field(b, 12, 4), bit(a, 6), !is_double) : d | f_reg(field(b, 12, 4), bit(a, 6), false);
    i.f_reads = resizes ? m : m | f_reg(field(b, 0, 4), bit(b, 5), false);
  }
}

constexpr void decode_vfp(Instruction& i, std::uint32_t a, std::uint32_t b) {
  if ((a & 0xfe00) == 0xec00) return vfp_transfer(i, a, b);
  const bool is_double = bit(b, 8);
  const Registers d = f_reg(field(b, 12, 4), bit(a, 6), is_double);
  i.f_reads = f_reg(field(a, 0, 4), bit(b, 7), is_double) | f_reg(field(b, 0, 4), bit(b, 5), is_double);
  i.f_writes = d;
  if ((a & 0xff00) == 0xfe00) {  // Armv8-M
    i.kind = bit(a, 7) && field(a, 4, 2) == 3 ? Kind::f_convert : Kind::f_sign;
    return;
  }
  if (bit(b, 4)) {
    i.f_reads = i.f_writes = 0;
    return vfp_to_core(i, a, b);
  }
  switch ((a >> 4 & 8) | field(a, 4, 2)) {
    case 0:
    case 1:
    case 9:
    case 10:  // VMLA and VFMA, with any signs
      i.kind = Kind::f_multiply_add;
      i.f_addend = d;
      return;
    case 2:
      i.kind = Kind::f_multiply;
      return;
    case 3:
      i.kind = Kind::f_add;
      return;
    case 8:
      i.kind = Kind::f_divide;
      return;
    default:
      vfp_unary(i, a, b);
  }
}

// Whether the unit computes that multiplies, and that adds floats.
constexpr bool multiplies(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t operation = field(b, 8, 4);
  const bool of_two_vectors = (a & 0xef80) == 0xef00, of_scalar_or_widening = (a & 0xef80) == 0xee00;
  if (of_two_vectors) return operation == 11 || operation == 13 || (bit(b, 4) && (operation == 12 || (operation == 9 && !bit(a, 12))));
  const bool of_floats = field(a, 4, 2) == 3 && bit(b, 6), narrows = field(a, 4, 2) == 3 && !bit(b, 6);
  if (of_scalar_or_widening) return operation == 14 ? !narrows : operation == 15 && of_floats && !bit(a, 0);
  const bool across = (a & 0xef80) == 0xee80;
  return across && (operation == 14 || (operation == 15 && (a & 0x71) == 0x70));  // not VADDV
}

// Coarsely: loads and stores, what `multiplies`, and all others.
constexpr void decode_helium(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const Registers d = reg(field(b, 13, 3)), n = reg(field(a, 1, 3)), m = reg(field(b, 1, 3));
  if ((a & 0xee00) == 0xec00) {
    const bool load = bit(a, 4), contiguous = (a & 0x1000) == 0 && (b & 0x1000) == 0;
    i.kind = load ? Kind::v_load : Kind::v_store;
    i.points = reg(field(a, 0, 4));
    i.by_register = !contiguous;
    i.advances = contiguous && bit(a, 5) ? i.points : 0;
    (load ? i.v_writes : i.v_reads) = d;
    return;
  }
  i.kind = multiplies(a, b) ? Kind::v_multiply : Kind::v_other;
  i.v_writes = d;
  i.v_reads = n | m;
}

constexpr void data_processing(Instruction& i, std::uint32_t a, std::uint32_t b, Registers operand) {
  i.kind = Kind::alu;
  i.reads = operand | unless_pc(field(a, 0, 4));
  i.writes = unless_pc(field(b, 8, 4));
  i.sets_flags = bit(a, 4);
}

constexpr void with_constant(Instruction& i, std::uint32_t a, std::uint32_t b) {
  if (!bit(a, 9)) {  // as any operation's operand
    data_processing(i, a, b, 0);
    i.shifted = bit(a, 10) || bit(b, 14);
    return;
  }
  const std::uint32_t operation = field(a, 4, 5), n = field(a, 0, 4), d = field(b, 8, 4);
  const bool movw = operation == 4, movt = operation == 12, inserts = operation == 22;
  i.kind = operation >= 16 ? Kind::bit_field : Kind::alu;
  i.writes = reg(d);
  i.reads = movw ? 0 : movt ? reg(d) : unless_pc(n) | (inserts ? reg(d) : 0);
}

constexpr void branch_or_control(Instruction& i, std::uint32_t a, std::uint32_t b) {
  if (bit(b, 14)) {
    i.kind = bit(b, 12) ? Kind::call : Kind::loop;
    i.writes = bit(b, 12) ? reg(14) : 0;
    i.ends_loop = (a & 0xffcf) == 0xf00f;
  } else if (bit(b, 12)) {
    i.kind = Kind::branch;
  } else if (field(a, 7, 3) != 7) {
    i.kind = Kind::branch_if;
  } else if (const std::uint32_t operation = field(a, 4, 7); (operation & ~1u) == 0x38) {  // MSR
    i.kind = Kind::special;
    i.reads = reg(field(a, 0, 4));
  } else if ((operation & ~1u) == 0x3e) {  // MRS
    i.kind = Kind::special;
    i.writes = reg(field(b, 8, 4));
  } else {
    i.kind = operation == 0x3a ? Kind::nop : operation == 0x3b ? Kind::barrier : Kind::unknown;
  }
}

constexpr void transfer_two_or_exclusive(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const bool load = bit(a, 4), indexed = bit(a, 8), advances = bit(a, 5);
  const std::uint32_t n = field(a, 0, 4);
  if (indexed || advances) {
    access(i, load, Kind::load_two, Kind::store_two, reg(field(b, 12, 4)) | reg(field(b, 8, 4)), reg(n));
    i.count = 2;
    i.advances = advances ? reg(n) : 0;
  } else if (bit(a, 7) && load && field(b, 5, 3) == 0) {
    i.kind = Kind::table_branch;
    i.points = reg(n) | reg(field(b, 0, 4));
    i.by_register = true;
  } else {
    access(i, load, Kind::load, Kind::store, reg(field(b, 12, 4)), reg(n));
  }
}

constexpr void transfer_one(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t n = field(a, 0, 4), t = field(b, 12, 4), size = field(a, 5, 2);
  const bool load = bit(a, 4), has_form = !bit(a, 7) && n != 15;
  i.by_register = has_form && !bit(b, 11);
  i.advances = has_form && bit(b, 11) && bit(b, 8) ? reg(n) : 0;
  access(i, load, Kind::load, Kind::store, reg(t), unless_pc(n) | (i.by_register ? reg(field(b, 0, 4)) : 0));
  if (load && t == 15) i.kind = size == 2 ? Kind::load_pc : Kind::nop;  // PLD
}

constexpr void registers_and_multiplications(Instruction& i, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t operation = field(a, 4, 3), variant = field(b, 4, 4);
  const Registers n = reg(field(a, 0, 4)), m = reg(field(b, 0, 4)), d = reg(field(b, 8, 4)), high_or_addend = unless_pc(field(b, 12, 4));
  i.reads = (n & 0x7fffu) | m;
  i.writes = d;
  switch (field(a, 7, 2)) {
    case 0:
      i.kind = variant == 0 ? Kind::alu : Kind::bit_field;  // a shift by a register; SXTAB and the like
      i.sets_flags = variant == 0 && bit(a, 4);
      return;
    case 1:
      i.kind = operation == 1 || operation == 3 ? Kind::bit_field : Kind::dsp;
      return;
    case 2:
      i.reads |= high_or_addend;
      i.kind = operation == 7 ? Kind::dsp : operation != 0 ? Kind::dsp_multiply : high_or_addend ? Kind::multiply_add : Kind::multiply;
      return;
    default:
      if (operation == 1 || operation == 3) {
        i.kind = Kind::divide;
        return;
      }
      i.writes |= high_or_addend;
      if (operation >= 4) i.reads |= i.writes;
      i.kind = operation == 0 || operation == 2                     ? Kind::long_multiply
               : (operation == 4 || operation == 6) && variant == 0 ? Kind::long_multiply_add
                                                                    : Kind::dsp_multiply;  // UMAAL too
  }
}

constexpr void decode_wide(Instruction& i, bool has_helium) {
  const std::uint32_t a = i.code >> 16, b = i.code & 0xffff;
  if ((a & 0xec00) == 0xec00) {
    const std::uint32_t coprocessor = field(b, 8, 4);
    const bool of_vfp = coprocessor == 10 || coprocessor == 11;
    const bool of_helium = has_helium && ((a & 0xef00) == 0xef00 || !of_vfp);
    if (of_helium) return decode_helium(i, a, b);
    if (of_vfp) return decode_vfp(i, a, b);
  } else if ((a & 0xfe40) == 0xe800) {
    transfer_many(i, bit(a, 4), b, field(a, 0, 4), bit(a, 5));
  } else if ((a & 0xfe40) == 0xe840) {
    transfer_two_or_exclusive(i, a, b);
  } else if ((a & 0xfe00) == 0xea00) {
    data_processing(i, a, b, reg(field(b, 0, 4)));
    i.shifted = (b & 0x70f0) != 0;
    if (field(a, 5, 4) == 6) i.kind = Kind::bit_field;  // PKHBT
  } else if ((a & 0xf800) == 0xf000) {
    return bit(b, 15) ? branch_or_control(i, a, b) : with_constant(i, a, b);
  } else if ((a & 0xfe00) == 0xf800) {
    transfer_one(i, a, b);
  } else if ((a & 0xfe00) == 0xfa00) {
    registers_and_multiplications(i, a, b);
  }
}

}  // namespace detail

constexpr bool is_wide(std::uint16_t first_halfword) { return first_halfword >> 11 >= 29; }

// `code` has one halfword, or the two of a wide instruction.
constexpr Instruction decode(std::uint32_t address, std::uint32_t code, bool wide, bool has_helium) {
  Instruction i = {.address = address, .code = code, .wide = wide};
  if (wide)
    detail::decode_wide(i, has_helium);
  else
    detail::decode_narrow(i);
  for (Registers* registers : {&i.reads, &i.writes, &i.points, &i.advances}) *registers &= 0x7fff;
  return i;
}

}  // namespace tinyattn::cycles
