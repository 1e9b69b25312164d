// SPDX-License-Identifier: MIT
//
// Passes frames of samples from the microphone or a recording to the model, and shows the sound and the recognized digits.
"use strict";

const names = [..."0123456789", "none"];
const secondsShown = 4;
let module, rate, frameSamples, shown;
let samples = [];     // the last seconds, from -1 to 1
let labels = [];      // the class of each of their frames
let filled = 0;       // samples of the next frame so far
let source = null;    // what is playing or recording: {stop()}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const nextSamples = () => floatsAt(module, module.listener_samples(), frameSamples);
const logits = () => floatsAt(module, module.listener_logits(), names.length);

// --- Sound ---

// Runs the model on the frame in the module's memory, and stores samples and class.
function hearFrame() {
  samples.push(...nextSamples());
  const digit = module.listener_hear();
  labels.push(logits().indexOf(Math.max(...logits())));
  samples = samples.slice(-shown);
  labels = labels.slice(-shown / frameSamples);
  filled = 0;
  if (digit < 0) return;
  byId("answer").value = digit;
  byId("heard").value = `${byId("heard").value} ${digit}`.trim().slice(-60);
}

function putSample(sample) {
  nextSamples()[filled++] = sample;
  if (filled === frameSamples) hearFrame();
}

function clear() {
  module.listener_start();
  samples = new Array(shown).fill(0);
  labels = new Array(shown / frameSamples).fill(names.length - 1);
  filled = 0;
  for (const name of ["answer", "heard"]) byId(name).value = "";
}

function begin(next) {
  stop();
  source = next;
  byId("stop").disabled = false;
}

function stop() {
  source?.stop();
  source = null;
  byId("stop").disabled = true;
  byId("microphone").disabled = false;
}

// Plays a recording through the speakers; without an audio device it stays silent.
function audible(recording) {
  const context = new AudioContext(), length = module.listener_recording_samples();
  const buffer = context.createBuffer(1, length, rate), node = context.createBufferSource();
  for (let frame = 0; frame * frameSamples < length; ++frame) {
    module.listener_take_frame(recording, frame);
    buffer.copyToChannel(nextSamples(), 0, frame * frameSamples);
  }
  node.buffer = buffer;
  node.connect(context.destination);
  node.start();
  return context;
}

function play(recording) {
  clear();
  const context = audible(recording), began = performance.now(), frames = module.listener_recording_samples() / frameSamples;
  let frame = 0, request = 0;
  const takeFrames = () => {
    for (; frame < frames && frame * frameSamples <= ((performance.now() - began) * rate) / 1000; ++frame) {
      module.listener_take_frame(recording, frame);
      hearFrame();
    }
    if (frame === frames) stop();
    else request = requestAnimationFrame(takeFrames);
  };
  begin({ stop: () => (cancelAnimationFrame(request), context.close()) });
  takeFrames();
}

// --- The microphone ---

const worklet = `registerProcessor("tap", class extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel) this.port.postMessage(channel);
    return true;
  }
});`;

async function microphone() {
  const constraints = { channelCount: 1, echoCancellation: false, noiseSuppression: false };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: constraints });
  const context = new AudioContext(), resampler = new Resampler(context.sampleRate, rate, putSample);
  const end = () => {
    for (const track of stream.getTracks()) track.stop();
    context.close();
  };
  try {
    await context.audioWorklet.addModule(`data:text/javascript,${encodeURIComponent(worklet)}`);  // a file:// page may not load files
  } catch (error) {
    end();
    throw error;
  }
  const tap = new AudioWorkletNode(context, "tap", { numberOfOutputs: 0 });
  context.createMediaStreamSource(stream).connect(tap);
  clear();
  begin({ stop: () => ((tap.port.onmessage = null), end()) });
  tap.port.onmessage = ({ data }) => resampler.add(data);
}

async function useMicrophone() {
  stop();
  byId("microphone").disabled = true;
  byId("problem").textContent = "";
  try {
    await microphone();
    byId("microphone").disabled = true;
  } catch (error) {
    stop();
    byId("problem").textContent = `There is no microphone for this page: ${error.message}`;
  }
}

// --- Display ---

function paintWaveform() {
  const canvas = byId("waveform"), context = canvas.getContext("2d"), middle = canvas.height * 0.42, width = canvas.width / shown;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = color("--accent");
  context.beginPath();
  const column = Math.ceil(1 / width);
  for (let i = 0; i + column <= samples.length; i += column) {
    const part = samples.slice(i, i + column);
    context.moveTo(i * width, middle * (1 - Math.max(...part)));
    context.lineTo(i * width, middle * (1 - Math.min(...part)) + 1);
  }
  context.stroke();
  context.fillStyle = color("--ink");
  context.font = `${canvas.height * 0.075}px monospace`;
  context.textAlign = "center";
  labels.forEach((label, i) => context.fillText(label < 10 ? names[label] : "·", (i + 0.5) * frameSamples * width, canvas.height * 0.96));
}

function makeBars() {
  byId("bars").replaceChildren(...names.flatMap((name) => {
    const [title, bar, number] = ["span", "i", "span"].map((kind) => document.createElement(kind));
    title.textContent = name === "none" ? "–" : name;
    number.className = "number mono";
    return [title, bar, number];
  }));
}

function showBars() {
  const values = [...logits()], largest = Math.max(...values);
  const parts = values.map((value) => Math.exp(value - largest)), sum = parts.reduce((a, b) => a + b);
  parts.forEach((part, i) => {
    byId("bars").children[3 * i + 1].style.width = `${(100 * part) / sum}%`;
    byId("bars").children[3 * i + 2].textContent = (part / sum).toFixed(2);
  });
}

function show() {
  paintWaveform();
  showBars();
  requestAnimationFrame(show);
}

function makeRecordings() {
  for (let recording = 0; recording < module.listener_recordings(); ++recording) {
    const button = document.createElement("button"), label = module.listener_label(recording);
    button.type = "button";
    button.textContent = label < 10 ? label : "other";
    button.addEventListener("click", () => play(recording));
    byId("recordings").append(button);
  }
}

async function main() {
  module = await loadModule(moduleCode);
  rate = module.listener_sample_rate();
  frameSamples = module.listener_frame_samples();
  shown = secondsShown * rate;
  byId("parameters").value = module.listener_parameters().toLocaleString("en");
  makeRecordings();
  makeBars();
  byId("microphone").addEventListener("click", useMicrophone);
  byId("stop").addEventListener("click", stop);
  byId("checksum").value = hexadecimal(module.listener_checksum());
  clear();
  show();
}

main();
