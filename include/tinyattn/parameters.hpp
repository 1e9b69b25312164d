// SPDX-License-Identifier: MIT
//
// Visits the parameters of a module in order, each under the name that PyTorch would give it.
#pragma once

#include "tinyattn/shape.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

TINYATTN_BEGIN

namespace tinyattn { inline namespace TINYATTN_PORT_NAMESPACE {

namespace detail {

// A name as a template argument, which lies in static storage.
template <std::size_t Size>
struct Name {
  char text[Size] = {};  // ends in 0

  constexpr Name() noexcept = default;
  constexpr Name(const char (&from)[Size]) noexcept {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
  }
};

// The names that a layer passes with its members: names<"weight", "bias">.
template <Name... list>
struct Names {};
template <Name... list>
inline constexpr Names<list...> names{};

// Returns path.name, or the name alone if the path is empty.
template <std::size_t PathSize, std::size_t Size>
consteval auto joined(const Name<PathSize>& path, const Name<Size>& name) noexcept {
  constexpr std::size_t first = PathSize == 1 ? 0 : PathSize;
  Name<first + Size> both;
  for (std::size_t i = 0; i < first; ++i) both.text[i] = i + 1 < PathSize ? path.text[i] : '.';
  for (std::size_t i = 0; i < Size; ++i) both.text[first + i] = name.text[i];
  return both;
}

constexpr std::size_t digits_of(std::size_t number) noexcept {
  return number < 10 ? 1 : 1 + digits_of(number / 10);
}
template <std::size_t Number>
consteval auto number_name() noexcept {
  Name<digits_of(Number) + 1> name;
  for (std::size_t i = digits_of(Number), rest = Number; i-- > 0; rest /= 10)
    name.text[i] = static_cast<char>('0' + rest % 10);
  return name;
}

// Calls f(name, tensor) for every tensor in a member of a module: in an array of modules, a tensor,
// or a module. Skips an absent member, whose class is empty.
template <Name path, class Module, std::size_t Count>
constexpr void visit(Module (&modules)[Count], const auto& f);
template <Name path, tensor_like Parameter>
constexpr void visit(Parameter& parameter, const auto& f) {
  f(static_cast<const char*>(path.text), parameter);
}
template <Name path, class Module>
constexpr void visit(Module& module, const auto& f) {
  if constexpr (!std::is_empty_v<Module>)
    Module::members(
        module, [&]<Name... list>(Names<list...>, auto&... members) {
          (visit<joined(path, list)>(members, f), ...);
        });
}
template <Name path, class Module, std::size_t Count>
constexpr void visit(Module (&modules)[Count], const auto& f) {
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (visit<joined(path, number_name<Index>())>(modules[Index], f), ...);
  }
  (std::make_index_sequence<Count>{});
}

// Returns the number of floats in the parameters of a member.
template <class Member>
consteval std::size_t count_parameters() noexcept;
struct CountOfMembers {
  template <class... Members>
  auto operator()(const auto&, Members&...) const
      -> std::integral_constant<std::size_t, (0 + ... + count_parameters<Members>())>;
};
template <class Member>
consteval std::size_t count_parameters() noexcept {
  if constexpr (std::is_array_v<Member>)
    return std::extent_v<Member> * count_parameters<std::remove_extent_t<Member>>();
  else if constexpr (std::is_empty_v<Member>)
    return 0;
  else if constexpr (tensor_like<Member>)
    return Member::size();
  else
    return decltype(Member::members(std::declval<Member&>(), CountOfMembers{}))::value;
}

}  // namespace detail

// Calls f(name, tensor) for every weight and bias of a layer or model, in the order in which they
// are declared. The name is a const char* of static storage, the path of members to the tensor,
// such as "transformer.blocks.0.attention.query.weight"; the tensor is const if the module is.
// Skips what a configuration leaves out: a bias, a gate, a head that is tied.
template <class Module>
constexpr void for_each_parameter(Module& module, const auto& f) {
  detail::visit<"">(module, f);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
