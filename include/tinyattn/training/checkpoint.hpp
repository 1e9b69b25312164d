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

template <class Parameter>
concept can_be_saved = !tensor_like<Parameter> || (holds_floats<Parameter> && !has_gaps<Parameter>);

// A static_assert diagnoses a wrong model or flash; the caller then does nothing.
template <class Model, class Flash>
consteval bool check_checkpoint() noexcept {
  constexpr bool fits = checkpoint_flash<Flash>;
  static_assert(fits,
                "flash must have erase(slot), write(slot, offset, bytes) and read(slot, "
                "offset, bytes); bytes is a std::span<const std::byte> to write, and a "
                "std::span<std::byte> to read");
  constexpr bool is_training = requires { Model::state_bytes; };
  static_assert(!is_training,
                "save and load take a model or adapters: the state of an optimizer is not saved");
  if constexpr (!is_training) {
    constexpr auto is_wrong = []<class Parameter>() -> std::size_t {
      return !can_be_saved<Parameter>;
    };
    constexpr bool is_saved = sum_over_parameters<Model>(is_wrong) == 0;
    static_assert(is_saved, "a checkpoint holds tensors of float, and weights of int8");
    return fits && is_saved;
  }
  return false;
}

}  // namespace detail

// The bytes that a checkpoint needs in a slot: all its parameters, their names and shapes, and 64
// to 126 bytes more.
template <class Model>
inline constexpr std::size_t checkpoint_bytes =
    detail::slot_layout<Model>.end() + detail::block_bytes;

// Writes all parameters of a model to the slot that does not hold the newest model. Power may fail
// at any moment: load then finds this model or the one before, whole. Its CRC is written last.
// Reads what it has written: if that is not the model, returns no_model, and load still finds the
// one before. Models of other layouts in the slots are overwritten, the older first; neither save
// nor load reads beyond checkpoint_bytes<Model>, so that a larger one counts if its header is
// whole.
template <class Model, class Flash>
[[nodiscard]] constexpr Status save(const Model& model, Flash&& flash) noexcept {
  if constexpr (detail::check_checkpoint<Model, std::remove_reference_t<Flash>>()) {
    using detail::Slot;
    using detail::Slots;
    const Slots slots = detail::read_slots(flash, detail::slot_layout<Model>);
    const std::size_t newest = slots.newest(&Slot::is_whole), of_own = slots.newest(&Slot::is_own),
                      kept = of_own == Slots::none ? newest : of_own, slot = kept == 0 ? 1 : 0;
    const std::uint32_t sequence = newest == Slots::none ? 0 : slots.slots[newest].sequence + 1;
    detail::write_slot(model, flash, slot, sequence);
    const Slot written = detail::read_slot(flash, slot, detail::slot_layout<Model>);
    return written.is_own && written.sequence == sequence ? Status::ok : Status::no_model;
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
    const detail::Slots slots = detail::read_slots(flash, detail::slot_layout<Model>);
    const std::size_t slot = slots.newest(&detail::Slot::is_own);
    if (slot == detail::Slots::none)
      return slots.newest(&detail::Slot::is_whole) == slot ? Status::no_model : Status::wrong_model;
    detail::SlotStream<std::remove_reference_t<Flash>, true> reader{
        flash, slot, detail::slot_layout<Model>.data()};
    for_each_parameter(model,
                       [&](const char*, auto& parameter) { detail::transfer(reader, parameter); });
  }
  return Status::ok;
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
