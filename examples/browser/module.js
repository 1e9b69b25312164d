// SPDX-License-Identifier: MIT
//
// The module that the page's NAME.wasm.js holds as text: its functions and its memory.
"use strict";

async function loadModule(code) {
  const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  instance.exports._initialize();
  return instance.exports;
}

// `count` floats of the module, which it may change.
function floatsAt(module, address, count) {
  return new Float32Array(module.memory.buffer, address, count);
}

function hexadecimal(checksum) {
  return (checksum >>> 0).toString(16).padStart(8, "0");
}

const byId = (id) => document.getElementById(id);
