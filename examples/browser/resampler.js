// SPDX-License-Identifier: MIT
//
// Resamples a microphone's 44.1 or 48 kHz to the model's 8 kHz.
"use strict";

class Resampler {
  // Calls `put` with each new sample.
  constructor(from, to, put) {
    this.step = from / to;
    this.put = put;
    this.reach = Math.ceil(12 * Math.max(1, this.step));  // samples on each side on which a new one depends
    this.cutoff = 0.92 * Math.min(1, to / from);
    this.kept = new Float32Array(2 * this.reach);  // the last samples, on which the next new ones depend
    this.place = this.reach;                       // position of the next new sample among them
  }

  // The weight of a sample at a distance: a windowed sinc.
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
