// SPDX-License-Identifier: MIT
//
// Takes the samples of a microphone, at 44.1 or 48 kHz, and gives those that the model hears, at 8 kHz.
"use strict";

class Resampler {
  // `put` is called with each new sample.
  constructor(from, to, put) {
    this.step = from / to;
    this.put = put;
    this.reach = Math.ceil(12 * Math.max(1, this.step));  // how many samples on each side a new one depends on
    this.cutoff = 0.92 * Math.min(1, to / from);
    this.kept = new Float32Array(2 * this.reach);  // the samples from which the next ones are made
    this.place = this.reach;                       // of the next new sample among them
  }

  // The weight of a sample at a distance: a sinc under a window.
  weight(distance) {
    const x = Math.PI * this.cutoff * distance, window = Math.cos((Math.PI * distance) / (2 * (this.reach + 1))) ** 2;
    return this.cutoff * window * (x === 0 ? 1 : Math.sin(x) / x);
  }

  add(samples) {
    const all = new Float32Array(this.kept.length + samples.length);
    all.set(this.kept);
    all.set(samples, this.kept.length);
    for (; this.place + this.reach < all.length; this.place += this.step) {
      const nearest = Math.floor(this.place);
      let sum = 0;
      for (let i = nearest - this.reach + 1; i <= nearest + this.reach; ++i) sum += all[i] * this.weight(i - this.place);
      this.put(sum);
    }
    const first = Math.min(Math.floor(this.place) - this.reach + 1, all.length);
    this.kept = all.slice(first);
    this.place -= first;
  }
}
