// SPDX-License-Identifier: MIT
//
// Turns a drawing into 8 x 8 pixels in the same way as the training data: strokes are scaled to a bitmap of 32 x 32, and a pixel is the
// number of black dots in a square of 4 x 4.
"use strict";

const rows = 8, heads = 4, classes = 10;
const bitmapSize = 32, block = bitmapSize / rows;
const strokeWidth = 6, widest = 1.5;  // widest: how much a narrow digit is stretched; found by trial
let module, image, logits, attention;
let strokes = [];           // lists of [x, y] on the paper, from 0 to 1
let pointed = null;         // {head, row} under the pointer
let showsExample = false;

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// --- From strokes to pixels ---

function bounds(points) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

// Draws the strokes on a bitmap: scaled to its height, and stretched at most to its width.
function bitmapOf(strokes) {
  const { left, right, top, bottom } = bounds(strokes.flat());
  const inner = bitmapSize - strokeWidth;
  const down = inner / Math.max(bottom - top, 0.05);
  const across = Math.min(widest * down, inner / Math.max(right - left, 0.05));
  const place = ([x, y]) => [bitmapSize / 2 + (x - (left + right) / 2) * across, bitmapSize / 2 + (y - (top + bottom) / 2) * down];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = bitmapSize;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  trace(context, strokes, place, strokeWidth);
  return context.getImageData(0, 0, bitmapSize, bitmapSize).data;
}

function trace(context, strokes, place, width) {
  context.lineWidth = width;
  context.lineCap = context.lineJoin = "round";
  for (const stroke of strokes) {
    context.beginPath();
    stroke.forEach((point, i) => (i === 0 ? context.moveTo(...place(point)) : context.lineTo(...place(point))));
    if (stroke.length === 1) context.lineTo(...place(stroke[0]));
    context.stroke();
  }
}

function setImage(bitmap) {
  image.fill(0);
  for (let y = 0; y < bitmapSize; ++y)
    for (let x = 0; x < bitmapSize; ++x)
      if (bitmap[4 * (y * bitmapSize + x) + 3] > 127) image[Math.floor(y / block) * rows + Math.floor(x / block)] += 1 / (block * block);
}

// --- Display ---

function paint() {
  const paper = byId("paper"), context = paper.getContext("2d"), cell = paper.width / rows;
  context.clearRect(0, 0, paper.width, paper.height);
  const [red, green, blue] = color("--heat").split(",");
  const isRead = byId("answer").value !== "";
  for (let i = 0; isRead && i < rows * rows; ++i) {
    context.fillStyle = `rgba(128, 128, 128, ${(showsExample ? 0.9 : 0.3) * image[i]})`;
    context.fillRect((i % rows) * cell, Math.floor(i / rows) * cell, cell, cell);
  }
  if (isRead && pointed)
    for (let row = 0; row < rows; ++row) {
      context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${0.85 * weight(pointed.head, pointed.row, row)})`;
      context.fillRect(0, row * cell, paper.width, cell);
    }
  context.strokeStyle = color("--ink");
  trace(context, strokes, ([x, y]) => [x * paper.width, y * paper.height], 16);
  if (pointed) {
    context.lineWidth = 3;
    context.strokeStyle = color("--accent");
    context.strokeRect(2, pointed.row * cell + 2, paper.width - 4, cell - 4);
  }
}

const weight = (head, from, to) => attention[(head * rows + from) * rows + to];

function paintHeads() {
  const [red, green, blue] = color("--heat").split(",");
  const isRead = byId("answer").value !== "";
  document.querySelectorAll("#heads canvas").forEach((canvas, head) => {
    const context = canvas.getContext("2d"), cell = canvas.width / rows;
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let from = 0; isRead && from < rows; ++from)
      for (let to = 0; to < rows; ++to) {
        context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${weight(head, from, to)})`;
        context.fillRect(to * cell, from * cell, cell - 1, cell - 1);
      }
    if (pointed?.head !== head) return;
    context.lineWidth = 2;
    context.strokeStyle = color("--accent");
    context.strokeRect(1, pointed.row * cell + 1, canvas.width - 2, cell - 3);
  });
}

function showBars() {
  const largest = Math.max(...logits), smallest = Math.min(...logits);
  byId("bars").replaceChildren(...Array.from(logits, (logit, digit) => {
    const bar = document.createElement("i"), number = document.createElement("span"), name = document.createElement("span");
    bar.style.width = `${(100 * (logit - smallest)) / (largest - smallest)}%`;
    name.textContent = digit;
    number.textContent = logit.toFixed(3);
    number.className = "number mono";
    return [name, bar, number];
  }).flat());
}

function read() {
  byId("answer").value = module.digits_read();
  showBars();
  paintHeads();
  paint();
}

function clear() {
  strokes = [];
  showsExample = false;
  image.fill(0);
  byId("answer").value = "";
  byId("bars").replaceChildren();
  paintHeads();
  paint();
}

function showHeldOut(index) {
  clear();
  showsExample = true;
  const digit = module.digits_take_held_out(index);
  byId("source").textContent = `One of 360 digits that took no part in training; someone wrote a ${digit}. Draw your own over it.`;
  read();
}

// --- Drawing ---

function followPointer(paper) {
  const at = (event) => {
    const place = paper.getBoundingClientRect();
    return [(event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height];
  };
  let draws = false;
  paper.addEventListener("pointerdown", (event) => {
    if (showsExample) clear();
    pointed = null;
    draws = true;
    paper.setPointerCapture(event.pointerId);
    strokes.push([at(event)]);
    byId("source").textContent = "The model sees 8 x 8 pixels: what you draw is scaled to fill them.";
    readStrokes();
  });
  paper.addEventListener("pointermove", (event) => {
    if (!draws) return;
    strokes.at(-1).push(at(event));
    readStrokes();
  });
  for (const end of ["pointerup", "pointercancel"]) paper.addEventListener(end, () => (draws = false));
}

function readStrokes() {
  setImage(bitmapOf(strokes));
  read();
}

function makeHeads() {
  for (let head = 0; head < heads; ++head) {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 160;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `What head ${head + 1} attends to: eight rows by eight`);
    caption.textContent = `head ${head + 1}`;
    figure.append(caption, canvas);
    byId("heads").append(figure);
    const point = (event) => {
      const place = canvas.getBoundingClientRect();
      const row = Math.floor(((event.clientY - place.top) / place.height) * rows);
      pointed = { head, row: Math.min(rows - 1, Math.max(0, row)) };
      paintHeads();
      paint();
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "touch") return;  // a row selected by touch stays selected
      pointed = null;
      paintHeads();
      paint();
    });
  }
}

async function main() {
  module = await loadModule(moduleCode);
  image = floatsAt(module, module.digits_image(), rows * rows);
  logits = floatsAt(module, module.digits_logits(), classes);
  attention = floatsAt(module, module.digits_attention(), heads * rows * rows);
  byId("parameters").value = module.digits_parameters().toLocaleString("en");
  startTeaching();
  makeHeads();
  followPointer(byId("paper"));
  let next = 0;
  byId("clear").addEventListener("click", clear);
  byId("example").addEventListener("click", () => showHeldOut(next++));
  byId("paper").addEventListener("keydown", (event) => {
    if (!/^[0-9]$/.test(event.key)) return;
    for (let tried = 0; tried < module.digits_num_held_out(); ++tried)
      if (module.digits_take_held_out(next++) === Number(event.key)) return showHeldOut(next - 1);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (paintHeads(), paint()));
  byId("checksum").value = hexadecimal(module.digits_checksum());
  showHeldOut(next++);
}

main();
