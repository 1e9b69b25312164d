// SPDX-License-Identifier: MIT
//
// What llama2.c's run.c does with a text, in plain loops: of all pairs of neighbours that are a token together, that with the highest
// score is merged, of several the first. Takes the path of a tokenizer.bin; input and output are those of encode_lines.cpp.
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

std::vector<std::string> texts;
std::vector<float> scores;
std::unordered_map<std::string, int> tokens_of;

template <class Value>
bool read(std::FILE* file, Value& value) {
  return std::fread(&value, sizeof value, 1, file) == 1;
}

void read_tokens(std::FILE* file) {
  std::int32_t longest = 0, size = 0;
  float score = 0;
  read(file, longest);
  while (read(file, score) && read(file, size)) {
    std::string text(static_cast<std::size_t>(size), ' ');
    if (std::fread(text.data(), 1, text.size(), file) != text.size()) return;
    tokens_of[text] = static_cast<int>(texts.size());
    texts.push_back(text);
    scores.push_back(score);
  }
}

int token_of(const std::string& text) {
  const auto found = tokens_of.find(text);
  return found == tokens_of.end() ? -1 : found->second;
}

bool continues(const std::string& text, std::size_t i) { return i < text.size() && (text[i] & 0xc0) == 0x80; }

// Returns a token for each character, or for each of its bytes.
std::vector<int> split(const std::string& text) {
  std::vector<int> tokens;
  if (!text.empty()) tokens.push_back(token_of(" "));
  for (std::size_t i = 0; i < text.size();) {
    std::size_t size = 1;
    while (size < 4 && continues(text, i + size)) ++size;
    const std::string character = text.substr(i, size);
    if (const int token = token_of(character); token >= 0)
      tokens.push_back(token);
    else
      for (const char byte : character) tokens.push_back(static_cast<unsigned char>(byte) + 3);
    i += size;
  }
  return tokens;
}

bool merge_best(std::vector<int>& tokens) {
  float best = -1e10f;
  int merged = -1;
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const int token = token_of(texts[static_cast<std::size_t>(tokens[i])] + texts[static_cast<std::size_t>(tokens[i + 1])]);
    if (token < 0 || scores[static_cast<std::size_t>(token)] <= best) continue;
    best = scores[static_cast<std::size_t>(token)];
    merged = token;
    place = i;
  }
  if (merged < 0) return false;
  tokens[place] = merged;
  tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* file = argc > 1 ? std::fopen(argv[1], "rb") : nullptr;
  if (file == nullptr) return 2;
  read_tokens(file);
  std::fclose(file);
  for (std::uint32_t size = 0; read(stdin, size);) {
    std::string text(size, ' ');
    if (std::fread(text.data(), 1, size, stdin) != size) return 2;
    std::vector<int> tokens = split(text);
    while (merge_best(tokens)) {
    }
    const auto count = static_cast<std::uint32_t>(tokens.size());
    std::fwrite(&count, sizeof count, 1, stdout);
    for (const int token : tokens) {
      const auto written = static_cast<std::uint16_t>(token);
      std::fwrite(&written, sizeof written, 1, stdout);
    }
  }
  return 0;
}
