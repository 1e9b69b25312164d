// SPDX-License-Identifier: MIT
//
// Tokenizers with tables small enough to write down, and texts whose tokens can be found by hand. tests/products/export compares large ones
// with their references.
#include "tinyattn/tokenizer.hpp"
#include "tinyattn/tokenizer_for_c.hpp"

#include "support/check.hpp"

namespace tinyattn::test { namespace {

// Tokens 0 to 2 have no text; the others are " ", a, b, c, and then, in the order of their merges, ab, " ab", bc, aa.
constexpr TokenizerConfig sentencepiece{.kind = TokenizerKind::sentencepiece,
                                        .vocabulary = 11,
                                        .text_size = 6,
                                        .longest = 3,
                                        .num_pieces = 8,
                                        .first_merge = 7,
                                        .num_merges = 4,
                                        .unknown = 0,
                                        .dummy_prefix = true,
                                        .remove_extra_spaces = true,
                                        .divided_at_spaces = true};
constexpr Tokenizer<sentencepiece> pieces{.text = " abcaa",
                                          .places = {{0, 0, 0, 1, 5, 9, 13, 6, 3, 10, 18}},
                                          .sorted = {{3, 8, 4, 10, 7, 5, 9, 6}},
                                          .lefts = {{4, 3, 5, 4}},
                                          .ranks = {},
                                          .hidden = {}};

// The same with a normalizer: a tab becomes a space, A becomes a, "a\1" c, and x "ab".
constexpr TokenizerConfig with_rules = [] {
  TokenizerConfig config = sentencepiece;
  config.num_rules = 4;
  config.rule_text_size = 10;
  return config;
}();
constexpr Tokenizer<with_rules> normalized{.text = " abcaa",
                                           .places = pieces.places,
                                           .sorted = pieces.sorted,
                                           .lefts = pieces.lefts,
                                           .ranks = {},
                                           .hidden = {},
                                           .rule_text = {"\t Aaa\1cxab"},
                                           .rules = {{0, 2, 4, 7, 10}},
                                           .rule_sizes = {{1, 1, 2, 1}}};

// The characters a, b and U+00E9, which has two bytes; token 1 has no text.
constexpr TokenizerConfig table{.kind = TokenizerKind::characters, .vocabulary = 4, .text_size = 4, .longest = 2, .num_pieces = 3};
constexpr Tokenizer<table> characters{
    .text = "ab\303\251", .places = {{1, 0, 5, 10}}, .sorted = {{0, 2, 3}}, .lefts = {}, .ranks = {}, .hidden = {}};

// The bytes " ", ', a, s; then, in the order of their merges, " a", aa, 's, "  "; and token 8, a symbol spelled "end".
constexpr TokenizerConfig bytes{.kind = TokenizerKind::bytes,
                                .vocabulary = 9,
                                .text_size = 9,
                                .longest = 3,
                                .num_pieces = 8,
                                .num_symbols = 1,
                                .first_merge = 4,
                                .num_merges = 4,
                                .num_hidden = 1};
constexpr Tokenizer<bytes> words{.text = "  aa'send",
                                 .places = {{1, 17, 9, 21, 6, 10, 18, 2, 27}},
                                 .sorted = {{0, 7, 4, 1, 6, 2, 5, 3, 8}},
                                 .lefts = {{0, 2, 1, 0}},
                                 .ranks = {},
                                 .hidden = {{8}}};

// Encodes a text after a first token, into an array with room for one token per byte and one more. Compares all tokens.
template <class Tokenizer, std::size_t Count>
constexpr bool encodes(const Tokenizer& tokenizer, std::string_view text, const Token (&expected)[Count]) {
  Token tokens[40] = {99};
  std::size_t count = 1;
  if (tokenizer.encode(text, std::span(tokens, text.size() + 2), count) != Status::ok || count != Count + 1) return false;
  bool equal = tokens[0] == 99;
  for (std::size_t i = 0; i < Count; ++i) equal = equal && tokens[i + 1] == expected[i];
  return equal;
}

// Whether encoding a text into this much room gives the error, and count stays as it was.
constexpr bool refuses(const auto& tokenizer, std::string_view text, std::size_t room, Status expected) {
  Token tokens[40] = {};
  std::size_t count = 1;
  return tokenizer.encode(text, std::span(tokens, room + 1), count) == expected && count == 1;
}

static_assert(encodes(pieces, "ab abc", {8, 8, 6}));

extern "C" constexpr tinyattn_tokenizer characters_for_c = tokenizer_for_c<characters>;

void check_for_c(Check& check) {
  const auto encode = characters_for_c.encode;
  Token tokens[8] = {9};
  std::size_t count = 1, size = 9;
  check.that(characters_for_c.vocabulary == 4 && encode("a\303\251", 3, tokens, 5, &count) == TINYATTN_OK);
  check.that(count == 3 && tokens[0] == 9 && tokens[1] == 0 && tokens[2] == 3);
  check.that(encode("ab", 2, tokens, 5, &count) == TINYATTN_TOO_MANY_TOKENS && count == 3);
  check.that(encode("c", 1, tokens, 8, &count) == TINYATTN_UNKNOWN_TOKEN && count == 3);
  check.that(encode(nullptr, 0, tokens, 8, &count) == TINYATTN_OK && count == 3);
  check.that(encode(nullptr, 1, tokens, 8, &count) == TINYATTN_BAD_ARGUMENT && encode("a", 1, nullptr, 8, &count) == TINYATTN_BAD_ARGUMENT);
  check.that(encode("a", 1, tokens, 8, nullptr) == TINYATTN_BAD_ARGUMENT && count == 3);
  for (Token token = 0; token < 5; ++token) {
    const char* const text = characters_for_c.piece(token, &size);
    check.that(std::string_view(text, size) == characters.piece(token));
  }
}

constexpr Test tests[] = {
    everywhere("the lowest rank is merged first, the leftmost of several",
               [](Check& check) {
                 check.that(encodes(pieces, "ab abc", {8, 8, 6}));
                 check.that(encodes(pieces, "aab", {3, 4, 7}));
                 check.that(encodes(pieces, "aaa", {3, 10, 4}));
                 check.that(encodes(pieces, "bcbc", {3, 9, 9}));
                 check.that(encodes(pieces, "cabc", {3, 6, 7, 6}));
               }),
    everywhere("spaces of SentencePiece",
               [](Check& check) {
                 check.that(encodes(pieces, "  ab   a  ", {8, 3, 4}));
                 check.that(encodes(pieces, "a\xe2\x96\x81 a\xe2\x96\x81", {3, 4, 3, 3, 4}));
                 Token tokens[8];
                 std::size_t count = 0;
                 check.that(pieces.encode("   ", tokens, count) == Status::ok && count == 0);
                 check.that(pieces.encode({}, tokens, count) == Status::ok && count == 0);
               }),
    everywhere("one token for unknown characters in a row, and for bytes that are no UTF-8",
               [](Check& check) {
                 check.that(encodes(pieces, "xyab", {3, 0, 7}));
                 check.that(encodes(pieces, "a\xff\xe2\x96 b", {3, 4, 0, 3, 5}));
               }),
    everywhere("the longest rule of a normalizer, after a first character that is normalized",
               [](Check& check) {
                 check.that(encodes(normalized, "x\tA\1", {8, 3, 6}));
                 check.that(encodes(normalized, "\ta \t", {3, 4}));
                 check.that(refuses(normalized, "xxxx", 8, Status::too_many_tokens));
               }),
    everywhere("words of GPT-2",
               [](Check& check) {
                 check.that(encodes(words, "aa's a", {5, 6, 4}));
                 check.that(encodes(words, "  a", {0, 4}));
                 check.that(encodes(words, "a   ", {2, 7, 0}));
                 check.that(encodes(words, " 's'sa", {0, 1, 3, 6, 2}));
                 check.that(encodes(words, "aaa", {5, 2}));
               }),
    everywhere("a symbol is found before anything is merged, and has no piece",
               [](Check& check) {
                 check.that(encodes(words, "aendaa  end", {2, 8, 5, 7, 8}));
                 check.that(words.piece(8).empty() && words.piece(7) == "  ");
               }),
    everywhere("characters",
               [](Check& check) {
                 check.that(encodes(characters, "ba\303\251", {2, 0, 3}));
                 check.that(refuses(characters, "abc", 9, Status::unknown_token));
                 check.that(refuses(characters, "a\303", 9, Status::unknown_token));
                 check.that(refuses(characters, "a\xff", 9, Status::unknown_token));
               }),
    everywhere("room for one token for each byte and one more",
               [](Check& check) {
                 check.that(refuses(pieces, "abab", 4, Status::too_many_tokens));
                 check.that(refuses(characters, "ab", 2, Status::too_many_tokens));
                 check.that(!refuses(pieces, "abab", 5, Status::too_many_tokens));
                 Token token = 7;
                 std::size_t count = 2;
                 check.that(pieces.encode({}, std::span(&token, 1), count) == Status::too_many_tokens && count == 2 && token == 7);
               }),
    everywhere("pieces lie in flash",
               [](Check& check) {
                 check.that(pieces.piece(8) == " ab" && pieces.piece(10) == "aa" && pieces.piece(6) == "c");
                 check.that(pieces.piece(0).empty() && pieces.piece(11).empty() && pieces.piece(65535).empty());
                 check.that(pieces.piece(8).data() == pieces.text);
                 check.equal(pieces.vocabulary, std::size_t{11});
               }),
    at_run_time("a tokenizer for C does what it does in C++", check_for_c),
    at_run_time("a word of 10,000 characters",
                [](Check& check) {
                  static char text[10000];
                  static Token tokens[10001];
                  for (char& character : text) character = 'a';
                  std::size_t count = 0;
                  check.that(pieces.encode({text, sizeof text}, tokens, count) == Status::ok && count == 5001);
                }),
};

}}  // namespace tinyattn::test

int main() { return tinyattn::test::run(tinyattn::test::tests); }
