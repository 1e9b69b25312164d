// SPDX-License-Identifier: MIT
//
// Generates a few characters in each animation frame, so that the text appears as it is generated.
"use strict";

const charactersEachFrame = 2;
let module, vocabulary;
let writing = 0;  // the id of the requested animation frame, or 0

function textAt(address, count) {
  return String.fromCharCode(...new Uint8Array(module.memory.buffer, address, count));
}

// Returns a sentence that says what is wrong with a prompt, or an empty string.
function problemOf(prompt) {
  const longest = module.writer_longest_prompt();
  if (prompt.length === 0 || prompt.length > longest) return `A prompt has 1 to ${longest} characters.`;
  const unknown = [...prompt].find((character) => !vocabulary.includes(character));
  return unknown === undefined ? "" : `The model has never read “${unknown}”. It knows ${vocabulary.replace("\n", "")}`;
}

function stop() {
  cancelAnimationFrame(writing);
  writing = 0;
  byId("stop").disabled = true;
}

function start() {
  stop();
  const prompt = byId("prompt").value, problem = problemOf(prompt);
  byId("problem").textContent = problem;
  if (problem !== "") return;
  new Uint8Array(module.memory.buffer, module.writer_prompt(), prompt.length).set([...prompt].map((character) => character.charCodeAt(0)));
  if (!module.writer_start(prompt.length, Number(byId("seed").value), Number(byId("temperature").value))) return;
  const begin = document.createElement("b");
  begin.textContent = prompt;
  byId("text").replaceChildren(begin, "");
  byId("stop").disabled = false;
  write({ characters: 0, milliseconds: 0 });
}

// Appends "..." to a text that ends in a sentence that is not complete: it has as many characters as the model may generate.
function end() {
  stop();
  const written = byId("text").lastChild;
  if (!/[.!?\n]$/.test(written.data)) written.data += "...";
}

function write(spent) {
  let ends = false;
  const began = performance.now();
  for (let i = 0; i < charactersEachFrame && !ends; ++i) {
    const code = module.writer_next();
    ends = code === 0;
    if (ends) break;
    byId("text").lastChild.data += String.fromCharCode(code);
    ++spent.characters;
  }
  spent.milliseconds += performance.now() - began;
  byId("characters").value = spent.characters;
  byId("rate").value = spent.milliseconds > 0 ? Math.round((1000 * spent.characters) / spent.milliseconds).toLocaleString("en") : "";
  byId("checksum").value = hexadecimal(module.writer_checksum());
  if (ends) end();
  else writing = requestAnimationFrame(() => write(spent));
}

async function main() {
  module = await loadModule(moduleCode);
  vocabulary = textAt(module.writer_vocabulary(), module.writer_vocabulary_size());
  byId("parameters").value = module.writer_parameters().toLocaleString("en");
  byId("prompt").maxLength = module.writer_longest_prompt();
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  byId("stop").addEventListener("click", stop);
  start();
}

main();
