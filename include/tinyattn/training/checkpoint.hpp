// SPDX-License-Identifier: MIT
//
// Checkpoints. A checkpoint is the parameters of a model in one of two slots of flash: power may
// fail at any moment. ports/pytorch/from_board.py brings a checkpoint back to PyTorch.
#pragma once

#include "tinyattn/status.hpp"
#include "tinyattn/training/detail/checkpoint_slot.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

// The bytes of a write or read: one block, whose offset is a multiple of it. Flash that is written
// in words of 4, 8, 16 or 32 bytes takes a block as it is.
inline constexpr std::size_t checkpoint_block = detail::block_bytes;

// The caller's flash has two slots, 0 and 1. erase(slot) makes all its bytes 0xff. write(slot,
// offset, bytes) writes one block, a std::span<const std::byte>, once between two erasures.
// read(slot, offset, bytes) fills a std::span<std::byte>. Results of these functions are not looked
// at: save reads what it has written.
template <class Flash>
concept checkpoint_flash = requires(Flash& flash, std::size_t n, std::span<const std::byte> from,
                                    std::span<std::byte> to) {
  flash.erase(n);
  flash.write(n, n, from);
  (flash.read)(n, n, to);
};

namespace detail {

// A static_assert diagnoses a wrong model or flash; the caller then does nothing.
template <class Model, class Flash>
consteval bool check_checkpoint() noexcept {
  constexpr bool is_training = requires { Model::state_bytes; };
  static_assert(!is_training,
                "save and load take a model or adapters: the state of an optimizer is not saved");
  constexpr bool fits = checkpoint_flash<Flash>;
  static_assert(fits,
                "flash must have erase(slot), write(slot, offset, bytes) and read(slot, "
                "offset, bytes); bytes is a std::span<const std::byte> to write, and a "
                "std::span<std::byte> to read");
  return fits && !is_training;
}

template <class Model>
constexpr SlotHeader header_of(std::uint32_t sequence) noexcept {
  return {sequence, crc_of_layout<Model>, size_of_layout<Model>(), bytes_of_parameters<Model>()};
}

template <class Parameter>
constexpr void put_parameter(auto& writer, const Parameter& parameter) noexcept {
  if constexpr (is_int8_matrix<Parameter>) {
    writer.put(parameter.code, sizeof(parameter.code));
    writer.put(parameter.scale, sizeof(parameter.scale) / sizeof(float));
  } else {
    writer.put(parameter.data(), parameter.size());
  }
}
template <class Parameter>
constexpr void get_parameter(auto& reader, Parameter& parameter) noexcept {
  if constexpr (is_int8_matrix<Parameter>) {
    reader.get(parameter.code, sizeof(parameter.code));
    reader.get(parameter.scale, sizeof(parameter.scale) / sizeof(float));
  } else {
    reader.get(parameter.data(), parameter.size());
  }
}

// Writes a model, and the CRC of all last, which it returns.
template <class Model, class Flash>
constexpr std::uint32_t write_slot(const Model& model, Flash& flash, std::size_t slot,
                                   std::uint32_t sequence) noexcept {
  static_cast<void>(flash.erase(slot));
  SlotWriter<Flash> writer{flash, slot};
  put_header(writer, header_of<Model>(sequence));
  writer.put(layout_of<Model>.text, size_of_layout<Model>());
  writer.pad();
  for_each_parameter(model,
                     [&](const char*, const auto& parameter) { put_parameter(writer, parameter); });
  writer.pad();
  const std::uint32_t crc = writer.crc;
  writer.put(crc);
  writer.pad();
  return crc;
}

}  // namespace detail

// The bytes that a checkpoint needs in a slot: all its parameters, their names and shapes, and 64
// to 126 bytes more.
template <class Model>
inline constexpr std::size_t checkpoint_bytes =
    detail::header_of<Model>(0).end() + detail::block_bytes;

// Writes all parameters of a model to the slot that does not hold the newest model. Power may fail
// at any moment: load then finds this model or the one before, whole. Its CRC is written last.
// Reads what it has written: if that is not the model, returns no_model, and load still finds the
// one before. Models of other layouts in the slots are overwritten, the older first; neither save
// nor load reads beyond checkpoint_bytes<Model>, so that a larger one counts if its header is
// whole.
template <class Model, class Flash>
[[nodiscard]] constexpr Status save(const Model& model, Flash&& flash) noexcept {
  if constexpr (detail::check_checkpoint<Model, std::remove_reference_t<Flash>>()) {
    using ItsFlash = std::remove_reference_t<Flash>;
    constexpr std::size_t limit = detail::header_of<Model>(0).end();
    const detail::Slots slots = detail::read_slots(flash, limit);
    const auto any = [](const detail::SlotHeader&) { return true; };
    const auto own = [](const detail::SlotHeader& header) {
      return header.has_layout_of(detail::header_of<Model>(0));
    };
    const std::size_t newest = detail::newest(slots, any), of_own = detail::newest(slots, own),
                      kept = of_own == detail::no_slot ? newest : of_own, slot = kept == 0 ? 1 : 0;
    const std::uint32_t sequence =
        newest == detail::no_slot ? 0 : slots.headers[newest].sequence + 1;
    const std::uint32_t crc = detail::write_slot(model, flash, slot, sequence);
    detail::SlotHeader header{};
    const bool is_there = detail::read_slot(flash, slot, limit, header) &&
                          detail::SlotReader<ItsFlash>{flash, slot, header.end()}.word() == crc;
    return is_there ? Status::ok : Status::no_model;
  }
  return Status::ok;
}

// Reads all parameters of a model from the slot of the newest one that has its layout. Returns
// wrong_model if there are only models of another layout, no_model if there is none; the model is
// then unchanged. The layout of a checkpoint is the names and shapes of parameters, and not what is
// computed with them: that num_heads, causal, rotary or an activation are those of the program that
// saved is the caller's to know.
template <class Model, class Flash>
[[nodiscard]] constexpr Status load(Model& model, Flash&& flash) noexcept {
  constexpr bool writable = !std::is_const_v<Model>;
  static_assert(writable, "load writes the parameters of a model, which must not be const");
  if constexpr (writable && detail::check_checkpoint<Model, std::remove_reference_t<Flash>>()) {
    constexpr std::size_t limit = detail::header_of<Model>(0).end();
    const detail::Slots slots = detail::read_slots(flash, limit);
    const std::size_t slot = detail::newest(slots, [](const detail::SlotHeader& header) {
      return header.has_layout_of(detail::header_of<Model>(0));
    });
    if (slot == detail::no_slot)
      return slots.is_whole[0] || slots.is_whole[1] ? Status::wrong_model : Status::no_model;
    const std::size_t data =
        detail::block_bytes + detail::in_blocks(detail::size_of_layout<Model>());
    detail::SlotReader<std::remove_reference_t<Flash>> reader{flash, slot, data};
    for_each_parameter(
        model, [&](const char*, auto& parameter) { detail::get_parameter(reader, parameter); });
  }
  return Status::ok;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
