// SPDX-License-Identifier: MIT
//
// Encodes texts with @huggingface/tokenizers; input and output are the same as in encode_lines.cpp.
//
//   node huggingface.mjs FOLDER_OF_NODE_MODULES TOKENIZER_JSON
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { Tokenizer } = createRequire(`${process.argv[2]}/`)('@huggingface/tokenizers');
const tokenizer = new Tokenizer(JSON.parse(fs.readFileSync(process.argv[3], 'utf8')), {});
const input = fs.readFileSync(0), output = [];
for (let position = 0; position < input.length;) {
  const end = position + 4 + input.readUInt32LE(position);
  const { ids } = tokenizer.encode(input.toString('utf8', position + 4, end), { add_special_tokens: false });
  const tokens = Buffer.alloc(4 + 2 * ids.length);
  tokens.writeUInt32LE(ids.length);
  ids.forEach((id, i) => tokens.writeUInt16LE(id, 4 + 2 * i));
  output.push(tokens);
  position = end;
}
process.stdout.write(Buffer.concat(output));
