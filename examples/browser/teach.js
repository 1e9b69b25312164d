// SPDX-License-Identifier: MIT
//
// Teaches the model a user's hand: collects labelled images, trains the last layer, and draws the loss.
"use strict";

const epochs = 10;  // for each press of the button
let losses = [];
let learning = 0;   // the id of the requested animation frame, or 0

function paintLoss() {
  const canvas = byId("loss"), context = canvas.getContext("2d");
  const highest = Math.max(...losses, 0), margin = 16;
  const place = (loss, epoch) => [
    margin + (epoch * (canvas.width - 2 * margin)) / Math.max(losses.length - 1, epochs - 1),
    canvas.height - margin - (loss / highest) * (canvas.height - 2 * margin)];
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = color("--accent");
  context.lineWidth = 3;
  context.beginPath();
  losses.forEach((loss, epoch) => context.lineTo(...place(loss, epoch)));
  context.stroke();
}

function showTaught(count) {
  byId("taught").value = `${count}, of which ${module.digits_taught_right()} are read right`;
  byId("kept").value = module.digits_held_out_right();
  byId("mean-loss").value = losses.length === 0 ? "" : `${losses.at(-1).toFixed(4)} after ${losses.length} epochs`;
  byId("weights-checksum").value = hexadecimal(module.digits_weights_checksum());
  byId("learn").disabled = count === 0 || learning !== 0;
  byId("forget").disabled = count === 0;
  paintLoss();
  if (byId("answer").value !== "") read();
}

function forget() {
  cancelAnimationFrame(learning);
  learning = 0;
  losses = [];
  module.digits_forget();
  showTaught(0);
}

// Trains one epoch in each animation frame.
function learnEpochs(count, left) {
  losses.push(module.digits_learn());
  learning = left > 1 ? requestAnimationFrame(() => learnEpochs(count, left - 1)) : 0;
  showTaught(count);
}

function makeLabels(teach) {
  byId("labels").replaceChildren("It is a", ...Array.from({ length: classes }, (_, digit) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = digit;
    button.addEventListener("click", () => teach(digit));
    return button;
  }));
}

function startTeaching() {
  let taught = 0;
  const take = (count) => {
    taught = count;
    showTaught(count);
  };
  makeLabels((digit) => {
    if (byId("answer").value !== "") take(module.digits_teach(digit));
  });
  byId("learn").addEventListener("click", () => learnEpochs(taught, epochs));
  byId("hand").addEventListener("click", () => {
    forget();
    take(module.digits_take_hand());
  });
  byId("forget").addEventListener("click", () => {
    forget();
    taught = 0;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintLoss);
  forget();
}
