// SPDX-License-Identifier: MIT
//
// Prints the table of include/tinyattn/kernel/text/character_classes.hpp: the classes of JavaScript's regular expressions by which
// @huggingface/tokenizers splits a text. --version prints the version of Unicode.
const classes = [/[^\p{L}\p{N}\s]/u, /\p{L}/u, /\p{N}/u, /\s/u];
const longest = 2 ** 14 - 1, runsInBlock = 32;

function* runs() {
  let first = 0, which = 0;
  for (let code = 0; code <= 0x110000; ++code) {
    const next = code < 0x110000 ? classes.findIndex((one) => one.test(String.fromCodePoint(code))) : -1;
    if (next === which && code - first < longest) continue;
    yield { first, length: code - first, which };
    first = code;
    which = next;
  }
}

// The last runs have no class.
const all = [...runs()];
while (all.at(-1).which === 0) all.pop();
const inLines = (numbers, width) => {
  const lines = [''];
  for (const number of numbers) {
    const text = `${number}, `;
    if (lines.at(-1).length + text.length > width) lines.push('');
    lines[lines.length - 1] += text;
  }
  return lines.map((line) => `    ${line.trimEnd()}`).join('\n').replace(/,$/, '');
};
if (process.argv[2] === '--version') console.log(process.versions.unicode);
else {
  const blocks = all.filter((_, i) => i % runsInBlock === 0).map(({ first }) => first);
  console.log(`constexpr std::uint32_t first_of_block[] = {\n${inLines(blocks, 96)}};`);
  console.log(`constexpr std::uint16_t runs[] = {\n${inLines(all.map(({ length, which }) => length << 2 | which), 96)}};`);
}
