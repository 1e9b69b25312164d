// SPDX-License-Identifier: MIT
//
// What a kernel may ask of a port: a vector of `lanes` floats and a dozen operations on it. A port
// is a struct of static functions; ports/README.md says how to write one.
#pragma once

#include "tinyattn/port/compiler.hpp"

#include <concepts>
#include <cstddef>

namespace tinyattn { namespace port { inline namespace TINYATTN_FLAGS_NAMESPACE {

template <class Port>
concept shape = requires {
  typename Port::vec;  // `lanes` floats
  // one float for all lanes, as an operand: a vec, or what an instruction takes instead
  typename Port::broadcast_operand;
  typename Port::one_lane;         // the port that computes single floats next to this one
  requires 16 % Port::lanes == 0;  // a row sum has sixteen lanes
  // registers that a tile may use; its sums take three quarters of them
  requires Port::registers * 3 / 4 >= Port::tile_vectors;
  requires Port::tile_vectors != 0;  // the width of a register tile
  requires Port::block_rows != 0;    // rows that are projected at a time
  // queries that one head attends with at a time
  requires Port::query_rows != 0 && Port::query_rows <= Port::block_rows;
  // tiles of one size, the last of which overlaps its neighbour; else several sizes cover a product
  { Port::tiles_overlap } -> std::convertible_to<bool>;
  // all shapes but the smallest share one copy of a kernel: where flash is scarce, or where an fma
  // takes so long that code for each shape gains nothing
  { Port::shares_code } -> std::convertible_to<bool>;
  // several rows or heads are computed side by side: while one waits for a result, another proceeds
  { Port::interleaves_rows } -> std::convertible_to<bool>;
};

template <class Port>
concept contract = shape<Port> && requires(typename Port::vec v, typename Port::broadcast_operand s,
                                           const float* from, float* to, std::size_t n, float x) {
  // load: `lanes` floats, aligned only as float. load_n: the first n <= lanes; other lanes are x
  { Port::load(from) } -> std::same_as<typename Port::vec>;
  { Port::load_n(from, n, x) } -> std::same_as<typename Port::vec>;
  // store_n writes the first n lanes, and nothing after them
  { Port::store(to, v) } -> std::same_as<void>;
  { Port::store_n(to, v, n) } -> std::same_as<void>;
  // x in every lane
  { Port::splat(x) } -> std::same_as<typename Port::vec>;
  { Port::broadcast(x) } -> std::same_as<typename Port::broadcast_operand>;
  // first: lane 0 of v. butterfly<By>: lane q of the result is lane q ^ By of v, for By = 1, 2,
  // 4 and so on to lanes / 2
  { Port::first(v) } -> std::same_as<float>;
  requires Port::lanes == 1 || requires {
    { Port::template butterfly<1>(v) } -> std::same_as<typename Port::vec>;
  };
  { Port::one_lane::divide(x, x) } -> std::same_as<float>;  // rounded once
  // on one lane, where vec and broadcast_operand are float: copies any number of floats between
  // memory and an array
  requires Port::lanes != 1 || requires(float(&row)[Port::tile_vectors], float(&one)[1]) {
    Port::load_row(from, row);
    Port::store_row(row, to);
    Port::load_row(from, one);
    Port::store_row(one, to);
  };
  // the product of the first two plus the third, rounded once
  { Port::fma(v, v, v) } -> std::same_as<typename Port::vec>;
  { Port::fma(s, v, v) } -> std::same_as<typename Port::vec>;
  { Port::fma(v, v, s) } -> std::same_as<typename Port::vec>;
  // rounded: no compiler may contract a product of `mul` with an addition, nor `add` with a product
  { Port::mul(v, v) } -> std::same_as<typename Port::vec>;
  { Port::mul(v, s) } -> std::same_as<typename Port::vec>;
  { Port::add(v, v) } -> std::same_as<typename Port::vec>;
  { Port::add(v, s) } -> std::same_as<typename Port::vec>;
  // unspecified for NaN and for the sign of zero
  { Port::maximum(v, v) } -> std::same_as<typename Port::vec>;
  // a < b ? c : d, lane by lane; a NaN is not less
  { Port::select_less(v, v, v, v) } -> std::same_as<typename Port::vec>;
  // 2^n from 1.5 * 2^23 + 127 + n, of which the low bits are the exponent: -126 <= n <= 127; 0 for
  // n = -127
  { Port::exponent_bits(v) } -> std::same_as<typename Port::vec>;
};

// Optional members of a port. Kernels use them where a port has them.
//
//   tile<Rows, Vectors>(initial, a, a_stride, b, b_stride, out, out_stride, inner)
//                           out[r][j] = initial[j] + the sum over k of a[r][k] * b[k][j], k rising,
//                           each step one fma, for `Rows` rows and `Vectors` whole vectors; a port
//                           constrains it to the tiles that it has
//   tile_height             the height of a tile of `tile_vectors`; without it, sums fill three
//                           quarters of the registers
//   group                   how many floats a port of one lane moves at once; without it,
//                           `tile_vectors`
//   row_tile<Vectors>(initial, a, b, b_stride, out, inner)
//                           the same for one row, for `row_vectors` vectors and for any narrower
//                           tiles that the port has: each is the power of two below the last
//   dots(initial, a, b, b_stride, out, inner)
//                           out[j] = initial[j] + the sum over k of a[k] * b[j][k], k rising, for
//                           `dot_products` columns j
//   outer_tile<Rows, Vectors>(a, a_stride, b, b_stride, out, out_stride, inner)
//                           out[r][j] += the sum over k of a[k][r] * b[k][j], k rising, each step
//                           one fma; a port constrains it to the tiles that it has
//   outer_rows              the height of an outer tile of `tile_vectors`, unless as tile's
//   backward_rows           queries that one head attends with at a time in the backward pass of a
//                           layer, unless `query_rows`
//   dot_tile(a, b, b_stride, count, inner, sums)
//                           sums[r][q] += the sum over k of a[r][k] * b[q][k], k rising, for
//                           `dot_rows` rows, of which a[r] are the addresses, and `count` lanes q;
//                           other lanes take the last row of b
//   dot_columns(rows, inner, a, a_stride, b, b_stride, initial, initial_stride, out, out_stride)
//                           the same for all rows of a, of `initial` and of `out`
//   add_multiple(a, from, next, to, count)
//                           to[j] += a * from[j * next], rounded once, for `count` elements: where
//                           fma is a function, `a` is unpacked once
//   add_multiple_of_large(a, from, to, count, least)
//                           to[j] += a * from[j], rounded once, or a * 0 if the size of from[j] is
//                           below `least`; returns how many it computed, up to `count`
//   exp_of_nonpositive(x)   that of elementwise.hpp, where fma is a function
//   exponentials(from, row, count, largest, scale, numbers)
//                           row[j] = e^((from[j] - largest) * scale) as softmax computes it, by
//                           exp_numbers of elementwise.hpp. A port of one lane that has it also has
//                           sum_of_fours(row, count, eight_zeros) and
//                           multiply_fours(row, count, by). In all three `count` is a multiple of
//                           four, not 0
//   softmax_row(from, to, count, scale, numbers)
//                           the softmax of a row, of any length, as kernel/softmax_row.hpp computes
//                           it, from exp_numbers
//   interleave(a, b, low, high)
//                           low = a[0] b[0] a[1] b[1] ..., and high = the rest of that sequence
//   load_transposed(from, stride, square)
//                           square[j][i] = from[i * stride + j] for `lanes` rows of `lanes` floats
//   scatter(to, step, v)    to[q * step] = v[q] for every lane q
//   divide(a, b)            a / b, rounded once; every port of one lane has it
//   square_root(v)          the square root of each lane, rounded once
//   cut_below(v, least)     0 where |v| < least, else v; a NaN stays one
//   negative_magnitude(v)   -|v|, where a zero may have either sign
//   sum_of_row(row, count)  the sum of a row in sixteen lanes, as the page of the kernels says
//   sum_of_squares(row, count)
//                           the same of the squares, each of which enters by an fma
//   add_square(x, sum)      x * x + sum, rounded once, where fma is a function
//   multiply_twice(x, factor, by, out, count)
//                           out[j] = x[j] * factor * by[j], in which both products are rounded
//   add_row(from, to, count), add_products(a, b, to, count), multiply_elements(a, b, to, count),
//   scale_row(from, factor, to, count), sum_of_products(a, b, count)
//                           the functions of these names of training/kernel/row.hpp
//   center_and_scale(normalized, d_x, count, product, mean, scale)
//                           d_x[j] = scale * (d_x[j] + mean + product * normalized[j]), of which
//                           the second product is an fma. A port that has one of these six, and
//                           the next, has all of them
//   softmax_backward(weights, d_out, d_x, count, mean, scale)
//                           d_x[j] = scale * (weights[j] * (d_out[j] + mean))
//   half                    a port of half as many lanes, for short rows
//
// Integers, for int8 weights. A port has integer_dots, integer_rows and one form of
// pack_row, or none of these.
//
//   pack_row(q, terms)      converts a row of integers, |q[k]| < 2^15, in place to the form that
//                           integer_dots takes; terms is a multiple of 8
//   pack_row(q, terms, start)
//                           the same; `start` is packed, too, and sums of the row begin with it
//   integer_dots<Rows>(q, q_stride, codes, stride, terms, cols, sums)
//                           sums[r * cols + j] = the sum over k < terms of q[r * q_stride + k], as
//                           it was before it was packed, times codes[j * stride + k], modulo 2^32;
//                           for one row, or for integer_rows. Codes are aligned to 4; stride is a
//                           multiple of 8, too
//   integer_rows            the height of a tile of such sums; 1 if several rows gain nothing, or
//                           are not worth their flash
//   panel_dots<Port>(q, q_stride, panel, terms, sums)
//                           the same for `panel_rows` rows and 2 * lanes columns; a row of the
//                           panel has four codes of each column
//   quantize<Port>(x, count, terms, bits, q, sum)
//                           finds the maximum of the bits of |x[k]|, rounds the row to q[k] as
//                           kernel/int8/quantize.hpp says, and packs it, with zeros from count to
//                           terms; returns the maximum, and the sum of q in `sum`. What it writes
//                           for a row that is not finite, or too small, is not used
//   magnitude_bits(x, count)
//                           the maximum of the bits of |x[k]|
//   round_row(x, count, exponent, bits, q)
//                           q[k] = x[k] / step, as `shifted_to_integer` of kernel/int8/quantize.hpp
//                           says; returns the sum of q
//   round_and_pack(x, count, steps_of_one, q, terms)
//                           q[k] = x[k] * steps_of_one, a power of two, rounded half to even, and 0
//                           up to `terms`; packed; returns what sums of the row lack, which is
//                           -128 times the sum of q, or 0 if they begin with that
//   scale_sums(sums, addend, scales, step, bias, out, count)
//                           out[j] = fma(float(sums[j] + addend), scales[j] * step, bias[j]);
//                           without a bias, float(...) * (scales[j] * step); addend is 0 where sums
//                           begin with it
//   look_up(table, index)   table[index] for a vector of indices
//
// For the attention of a cache of int8. A port of four or eight lanes has the last four or none.
//
//   find_scores(block)      the scores of a block of keys, and their maxima: see score_block.hpp
//                           and the loop of this name in kernel/int8/scores.hpp, whose results it
//                           gives unless a key is shifted left
//   weigh(scores, value_scales, count, most, right, power_shift, powers)
//                           turns scores into weights, as that of kernel/int8/scores.hpp; returns
//                           the sum of the powers, and in the high word that of the weights
//   scale_all(sums, addend, scale, out, count)
//                           out[j] = float(sums[j] + addend) * scale, of sums with a sign
//   encode(x, count, codes, step, places, reciprocal)
//                           writes the codes of a row of floats: see Divisor of
//                           kernel/int8/cache.hpp
//   shift_right(n, counts)  n >> counts, lane by lane, of integers with and without a sign; counts
//                           are from 0 to 127, on one lane to 255. What it gives for others is not
//                           used
//   load_bytes(from, n)     the first n <= lanes bytes as integers; other lanes are 0
//   look_up_of_8(table, index), look_up_of_32(table, index)
//                           table[index] in a table of so many words

}}}  // namespace tinyattn::port::TINYATTN_FLAGS_NAMESPACE
