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
  char text[Size] = {};  // zero-terminated

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

// The members of a module that have its parameters, and their names.
template <const auto& list, auto... members>
struct Members {
  // Calls use(names, members...).
  static constexpr auto visit(auto& module, const auto& use) {
    return use(list, module.*members...);
  }
};

template <class Numbers, auto... members>
struct NumberedMembers;
template <std::size_t... Number, auto... members>
struct NumberedMembers<std::index_sequence<Number...>, members...>
    : Members<names<number_name<Number>()...>, members...> {};

// A model of the user's that names its members by Parameters.
template <class Module>
concept has_parts = requires {
  typename Module::Parts;
};

// Calls use(names, members...) for the members of a module that have its parameters.
template <class Module>
constexpr auto members_of(Module& module, const auto& use) {
  if constexpr (has_parts<Module>)
    return Module::Parts::Members::visit(module, use);
  else
    return Module::Members::visit(module, use);
}

// What a module is made of in the end: tensors, and matrices of int8.
template <class Member>
concept parameter_like = tensor_like<Member> || requires {
  Member::row_size;
};

// Calls f(name, parameter) for every parameter in a member of a module: in an array of modules, a
// parameter, or a module. Skips an absent member, whose class is empty.
template <Name path, class Module, std::size_t Count>
constexpr void visit(Module (&modules)[Count], const auto& f);
template <Name path, parameter_like Parameter>
constexpr void visit(Parameter& parameter, const auto& f) {
  f(static_cast<const char*>(path.text), parameter);
}
template <Name path, class Module>
constexpr void visit(Module& module, const auto& f) {
  if constexpr (!std::is_empty_v<Module>)
    members_of(
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

// Returns the sum of count.operator()<Parameter>() over the parameters of a member.
template <class Member, class Count>
consteval std::size_t sum_over_parameters(Count count) noexcept;
template <class Count>
struct SumOverMembers {
  template <class... Members>
  auto operator()(const auto&, Members&...) const
      -> std::integral_constant<std::size_t, (0 + ... + sum_over_parameters<Members>(Count{}))> {
    return {};
  }
};
template <class Member, class Count>
consteval std::size_t sum_over_parameters(Count count) noexcept {
  if constexpr (std::is_array_v<Member>)
    return std::extent_v<Member> * sum_over_parameters<std::remove_extent_t<Member>>(count);
  else if constexpr (std::is_empty_v<Member>)
    return 0;
  else if constexpr (parameter_like<Member>)
    return count.template operator()<Member>();
  else
    return decltype(members_of(std::declval<Member&>(), SumOverMembers<Count>{}))::value;
}

inline constexpr auto elements_of = []<class Parameter>() { return Parameter::size(); };
inline constexpr auto bytes_of = []<class Parameter>() { return sizeof(Parameter); };
// The number of weights and biases in a module, and the bytes that they take.
template <class Module>
consteval std::size_t count_parameters() noexcept {
  return sum_over_parameters<Module>(elements_of);
}
template <class Module>
consteval std::size_t bytes_of_parameters() noexcept {
  return sum_over_parameters<Module>(bytes_of);
}

}  // namespace detail

// What each layer and model declares after its members, as TINYATTN_MODULE(Linear, weight, bias):
// parameter_count and parameter_bytes, the number of its weights and biases and the bytes that they
// take; the names of its members, for for_each_parameter; and == of all of them.
#define TINYATTN_MODULE(Module, ...)                                                             \
  static constexpr std::size_t parameter_count = detail::count_parameters<Module>(),             \
                               parameter_bytes = detail::bytes_of_parameters<Module>();          \
  using Members = detail::Members<detail::names<TINYATTN_EACH_6(TINYATTN_NAME, 0, __VA_ARGS__)>, \
                                  TINYATTN_EACH_6(TINYATTN_ADDRESS, Module, __VA_ARGS__)>;       \
  friend constexpr bool operator==(const Module&, const Module&) = default;
#define TINYATTN_NAME(_, name) #name
#define TINYATTN_ADDRESS(Module, name) &Module::name
// f(Module, name) for each of up to six names.
#define TINYATTN_EACH_6(f, Module, name, ...) \
  f(Module, name) __VA_OPT__(, TINYATTN_EACH_5(f, Module, __VA_ARGS__))
#define TINYATTN_EACH_5(f, Module, name, ...) \
  f(Module, name) __VA_OPT__(, TINYATTN_EACH_4(f, Module, __VA_ARGS__))
#define TINYATTN_EACH_4(f, Module, name, ...) \
  f(Module, name) __VA_OPT__(, TINYATTN_EACH_3(f, Module, __VA_ARGS__))
#define TINYATTN_EACH_3(f, Module, name, ...) \
  f(Module, name) __VA_OPT__(, TINYATTN_EACH_2(f, Module, __VA_ARGS__))
#define TINYATTN_EACH_2(f, Module, name, ...) \
  f(Module, name) __VA_OPT__(, TINYATTN_EACH_1(f, Module, __VA_ARGS__))
#define TINYATTN_EACH_1(f, Module, name) f(Module, name)

// In a model of yours, `using Parts = Parameters<&Model::first, &Model::norm>;` names the members
// that have its parameters, in their order: layers, tensors, models, and arrays of these. What is
// left out is no parameter: it is not trained, saved or initialized with the model. A parameter's
// name begins with the place of the member among the parts: "0.weight".
template <auto... Parts>
struct Parameters {
  // The parts, numbered, for for_each_parameter.
  using Members = detail::NumberedMembers<std::make_index_sequence<sizeof...(Parts)>, Parts...>;
};

// Calls f(name, tensor) for every weight and bias of a layer or model, in the order in which they
// are declared. The name is a const char* of static storage, the path of members to the tensor,
// such as "transformer.blocks.0.attention.query.weight"; the tensor is const if the module is. A
// weight of int8 is one Int8Matrix.
// Skips what a configuration leaves out: a bias, a gate, a head that is tied.
template <class Module>
constexpr void for_each_parameter(Module& module, const auto& f) {
  detail::visit<"">(module, f);
}

}}  // namespace tinyattn::TINYATTN_PORT_NAMESPACE

TINYATTN_END
