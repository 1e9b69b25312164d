// SPDX-License-Identifier: MIT
//
// Encodes texts with a tokenizer that the exporter wrote, in the header HEADER. The input is texts, each after its size in four bytes; the
// output is tokens of two bytes, after their number. Also checks each result: guards, the room, and that nothing is lost between the
// pieces and the text if the tokenizer keeps every byte.
#include <cstdint>
#include <cstdio>
#include <vector>

#include HEADER

namespace {

constexpr auto& tokenizer = model::tokenizer;
constexpr tinyattn::Token guard = 0xabcd;

bool read(void* data, std::size_t size) { return size == 0 || std::fread(data, 1, size, stdin) == size; }

// Appends the tokens of a text after one that is there already. Returns whether a guard was overwritten, or the status was not ok.
bool is_wrong(const std::vector<char>& text, std::vector<tinyattn::Token>& tokens, std::size_t& count) {
  tokens.assign(3 * text.size() + 4, guard);
  count = 1;
  const tinyattn::Status status = tokenizer.encode({text.data(), text.size()}, {tokens.data(), tokens.size() - 1}, count);
  return status != tinyattn::Status::ok || tokens.front() != guard || tokens.back() != guard || count > tokens.size() - 1;
}

}  // namespace

int main() {
  std::vector<char> text;
  std::vector<tinyattn::Token> tokens;
  for (std::uint32_t size = 0; read(&size, sizeof size);) {
    text.resize(size);
    if (!read(text.data(), size)) return 2;
    std::size_t count = 0;
    if (is_wrong(text, tokens, count)) return 1;
    const auto written = static_cast<std::uint32_t>(count - 1);
    std::fwrite(&written, sizeof written, 1, stdout);
    std::fwrite(tokens.data() + 1, sizeof(tinyattn::Token), written, stdout);
  }
  return 0;
}
