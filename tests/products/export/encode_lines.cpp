// SPDX-License-Identifier: MIT
//
// Encodes texts with an exported tokenizer, from the header HEADER; its object takes at most BYTES. The input is texts, each after its size
// in four bytes; the output is each text's tokens, of two bytes, after their number in four bytes. With an argument, the output is the
// pieces of the tokens instead, each after its size.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include HEADER

namespace {

constexpr auto& tokenizer = model::tokenizer;
constexpr tinyattn::Token guard = 0xabcd;
static_assert(sizeof tokenizer <= BYTES);

// The most symbols that a byte of a text may become: a normalizer makes 18 of the three of U+FDFA.
constexpr std::size_t most_symbols = tokenizer.sizes.num_rules == 0 ? 1 : 6;

bool read(void* data, std::size_t size) { return size == 0 || std::fread(data, 1, size, stdin) == size; }

// Whether encoding gives the same tokens with room for one per symbol and one more, or for exactly all of them.
bool fits(const std::string& text, const std::vector<tinyattn::Token>& tokens, std::size_t count) {
  std::vector<tinyattn::Token> others(std::max(most_symbols * text.size() + 2, count));
  std::size_t again = 1;
  others.front() = tokens.front();
  return tokenizer.encode(text, others, again) == tinyattn::Status::ok && again == count &&
         std::equal(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count), others.begin());
}

// Appends a text's tokens after a first one. Returns whether a guard was overwritten, or the status is not ok.
bool is_wrong(const std::string& text, std::vector<tinyattn::Token>& tokens, std::size_t& count) {
  tokens.assign(3 * most_symbols * text.size() + 4, guard);
  count = 1;
  const tinyattn::Status status = tokenizer.encode(text, {tokens.data(), tokens.size() - 1}, count);
  return status != tinyattn::Status::ok || tokens.front() != guard || tokens.back() != guard || count > tokens.size() - 1 ||
         !fits(text, tokens, count);
}

void write(std::size_t size, const void* data, std::size_t bytes) {
  const auto written = static_cast<std::uint32_t>(size);
  std::fwrite(&written, sizeof written, 1, stdout);
  std::fwrite(data, 1, bytes, stdout);
}

void write_pieces(const std::vector<tinyattn::Token>& tokens, std::size_t count) {
  std::string pieces;
  for (std::size_t i = 1; i < count; ++i) pieces += tokenizer.piece(tokens[i]);
  write(pieces.size(), pieces.data(), pieces.size());
}

}  // namespace

int main(int argc, char**) {
  std::string text;
  std::vector<tinyattn::Token> tokens;
  for (std::uint32_t size = 0; read(&size, sizeof size);) {
    text.resize(size);
    if (!read(text.data(), size)) return 2;
    std::size_t count = 0;
    if (is_wrong(text, tokens, count)) return 1;
    if (argc > 1)
      write_pieces(tokens, count);
    else
      write(count - 1, tokens.data() + 1, (count - 1) * sizeof(tinyattn::Token));
  }
  return 0;
}
