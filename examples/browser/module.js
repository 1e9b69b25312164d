// SPDX-License-Identifier: MIT
//
// Instantiates the WebAssembly module that NAME.wasm.js holds as text.
"use strict";

async function loadModule(code) {
  const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  instance.exports._initialize();
  return instance.exports;
}

// Returns a view of `count` floats in the memory of the module.
function floatsAt(module, address, count) {
  return new Float32Array(module.memory.buffer, address, count);
}

function hexadecimal(checksum) {
  return (checksum >>> 0).toString(16).padStart(8, "0");
}

const byId = (id) => document.getElementById(id);
