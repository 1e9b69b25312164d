# SPDX-License-Identifier: MIT
"""How far a run is: on a terminal a line that moves, elsewhere a line each half minute."""
import shutil
import sys
import threading
import time

EACH = 30  # seconds


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Of runs that are expected to take some seconds each, {name: seconds}. Several go on at once: all of it takes a share of the sum."""

    def __init__(self, expected, share):
        self.expected = expected
        self.share = share
        self.began = time.monotonic()
        self.running = {}  # {name: (when it began, what it does)}
        self.took = {}
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.moves = sys.stdout.isatty()
        threading.Thread(target=self.tick, daemon=True).start()

    def start(self, name):
        with self.lock:
            self.running[name] = time.monotonic(), "starting"

    def say(self, name, what):
        with self.lock:
            self.running[name] = self.running[name][0], what

    def finish(self, name):
        """Of a run: what it took."""
        with self.lock:
            self.took[name] = time.monotonic() - self.running.pop(name)[0]
            return self.took[name]

    def total(self):
        """Seconds that all of it will take: what has run says how fast this machine is."""
        elapsed = time.monotonic() - self.began
        known = sum(self.expected[name] for name in self.took)
        pace = sum(self.took.values()) / known if known else 1
        return max(elapsed, pace * self.share * sum(self.expected.values()))

    def line(self):
        doing = "; ".join(f"{name}: {what}" for name, (_, what) in self.running.items())
        elapsed = time.monotonic() - self.began
        return f"[{len(self.took)} of {len(self.expected)} done, {clock(elapsed)} of about {clock(self.total())}] {doing}"

    def show(self):
        with self.lock:
            if self.moves:
                print(f"\r\033[K{self.line()[:shutil.get_terminal_size().columns - 1]}", end="", flush=True)
            else:
                print(self.line(), flush=True)

    def tick(self):
        while not self.ended.wait(0.5 if self.moves else EACH):
            if self.running:
                self.show()

    def print(self, text):
        """A line that stays."""
        with self.lock:
            print(("\r\033[K" if self.moves else "") + text, flush=True)

    def end(self):
        self.ended.set()
        print("\r\033[K" if self.moves else "", end="", flush=True)
