// SPDX-License-Identifier: MIT
//
// Trains the model step by step, and shows its loss, its answer for eight digits, and its attention map.
"use strict";

const length = 8, tested = 10, highestLoss = 3.5;
const stepsASecond = 15;
let module, steps, seed;
let losses = [];   // of each step so far
let shares = [];   // of right digits: before the first step, and after each
let before, now;   // attention maps
let timer = null;  // of the next step, while the model learns

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const tokensAt = (address) => new Uint16Array(module.memory.buffer, address, length);
const map = () => Float32Array.from(floatsAt(module, module.learner_map(), length * length));

// --- Learning ---

function begin(newSeed) {
  seed = newSeed;
  module.learner_start(seed);
  losses = [];
  shares = [module.learner_right(tested) / (tested * length)];
  before = map();
  show();
  run();
}

function learnOne() {
  losses.push(module.learner_learn());
  shares.push(module.learner_right(tested) / (tested * length));
  if (losses.length === steps) pause();
  show();
}

function run() {
  pause();
  timer = setInterval(learnOne, 1000 / stepsASecond);
  showButton();
}

function pause() {
  clearInterval(timer);
  timer = null;
  showButton();
}

function showButton() {
  byId("pause").textContent = timer === null ? "Continue" : "Pause";
  byId("pause").disabled = losses.length === steps;
}

// --- Display ---

function paintMap(canvas, weights) {
  const [red, green, blue] = color("--heat").split(","), context = canvas.getContext("2d"), cell = canvas.width / length;
  context.clearRect(0, 0, canvas.width, canvas.height);
  weights.forEach((weight, i) => {
    context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${weight})`;
    context.fillRect((i % length) * cell, Math.floor(i / length) * cell, cell - 1, cell - 1);
  });
}

function paintChart() {
  const canvas = byId("chart"), context = canvas.getContext("2d"), edge = 8;
  const x = (step) => edge + ((canvas.width - 2 * edge) * step) / steps;
  const y = (share) => edge + (canvas.height - 2 * edge) * (1 - share);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = color("--quiet");
  context.lineWidth = 2;
  context.beginPath();
  shares.forEach((share, step) => context.lineTo(x(step), y(share)));
  context.stroke();
  context.fillStyle = color("--accent");
  losses.forEach((loss, step) => {
    context.beginPath();
    context.arc(x(step + 0.5), y(Math.min(1, loss / highestLoss)), 3.5, 0, 2 * Math.PI);
    context.fill();
  });
}

// Shows the model's answer if the field holds eight digits.
function showAnswer() {
  const text = byId("digits").value;
  if (!/^[0-9]{8}$/.test(text)) return void (byId("answer").value = "");
  tokensAt(module.learner_digits()).set([...text].map(Number));
  byId("answer").value = tokensAt(module.learner_answer()).join("");
  now = map();
}

function show() {
  showAnswer();
  paintMap(byId("before"), before);
  paintMap(byId("now"), now);
  paintChart();
  byId("seed").value = seed;
  byId("step").value = losses.length;
  byId("right").value = `${Math.round(100 * shares.at(-1))} %`;
  byId("weights").value = hexadecimal(module.learner_weights());
}

async function main() {
  module = await loadModule(moduleCode);
  steps = module.learner_steps();
  byId("parameters").value = module.learner_parameters().toLocaleString("en");
  byId("steps").value = steps;
  tokensAt(module.learner_digits()).set([...byId("digits").value].map(Number));
  byId("pause").addEventListener("click", () => (timer === null ? run() : pause()));
  byId("another").addEventListener("click", () => begin(seed + 1));
  byId("digits").addEventListener("input", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  byId("checksum").value = hexadecimal(module.learner_checksum());
  begin(1);
}

main();
