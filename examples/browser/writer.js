// SPDX-License-Identifier: MIT
//
// Generates a token in each animation frame, so that the text appears as it is written.
"use strict";

let module;
let writing = 0;  // the id of the requested animation frame, or 0

function textAt(address, count) {
  return String.fromCharCode(...new Uint8Array(module.memory.buffer, address, count));
}

// Returns a sentence about what is wrong with a prompt, or an empty string.
function problemOf(prompt) {
  const longest = module.writer_longest_prompt();
  if (prompt.length === 0 || prompt.length > longest) return `A prompt has 1 to ${longest} characters.`;
  const isKnown = (character) => module.writer_is_known(character.codePointAt(0)) !== 0;
  const unknown = [...prompt].find((character) => !isKnown(character));
  const known = [...Array(96).keys()].map((i) => String.fromCharCode(32 + i)).filter(isKnown);
  return unknown === undefined ? "" : `The model has never read “${unknown}”. It knows ${known.join("")}`;
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
  module.writer_start(prompt.length, Number(byId("seed").value), Number(byId("temperature").value), byId("for-ever").checked);
  const begin = document.createElement("b");
  begin.textContent = prompt;
  byId("text").replaceChildren(begin, "");
  byId("stop").disabled = false;
  write(0);
}

// Appends "..." to a text that stops in mid-sentence because it reached the maximal length.
function end() {
  stop();
  const written = byId("text").lastChild;
  if (!/[.!?\n]$/.test(written.data)) written.data += "...";
}

function write(milliseconds) {
  const began = performance.now(), size = module.writer_next();
  milliseconds += performance.now() - began;
  if (size !== 0) byId("text").lastChild.data += textAt(module.writer_text(), size);
  const characters = module.writer_characters();
  byId("characters").value = characters;
  byId("rate").value = milliseconds > 0 ? Math.round((1000 * characters) / milliseconds).toLocaleString("en") : "";
  byId("checksum").value = hexadecimal(module.writer_checksum());
  if (size === 0) end();
  else writing = requestAnimationFrame(() => write(milliseconds));
}

async function main() {
  module = await loadModule(moduleCode);
  byId("parameters").value = module.writer_parameters().toLocaleString("en");
  byId("layers").value = module.writer_layers();
  byId("prompt").maxLength = module.writer_longest_prompt();
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  byId("stop").addEventListener("click", stop);
  start();
}

main();
