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
    """Of runs that are expected to take some seconds each: {name: seconds}."""

    def __init__(self, expected):
        self.expected = expected
        self.took = {}
        self.name, self.what, self.began = "", "", time.monotonic()
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.moves = sys.stdout.isatty()
        threading.Thread(target=self.tick, daemon=True).start()

    def start(self, name):
        with self.lock:
            self.name, self.what, self.started = name, "starting", time.monotonic()

    def finish(self):
        """Of a run: what it took."""
        with self.lock:
            self.took[self.name] = time.monotonic() - self.started
            return self.took[self.name]

    def say(self, what):
        with self.lock:
            self.what = what

    def total(self):
        """Seconds that all of it will take: what has run says how fast this machine is."""
        elapsed = time.monotonic() - self.began
        known = sum(self.expected[name] for name in self.took)
        pace = sum(self.took.values()) / known if known else 1
        left = sum(seconds for name, seconds in self.expected.items() if name not in self.took)
        return max(elapsed, sum(self.took.values()) + pace * left)

    def line(self):
        elapsed = time.monotonic() - self.began
        return (f"[{len(self.took) + 1}/{len(self.expected)}] {self.name}: {self.what}; {clock(elapsed)} of about {clock(self.total())}")

    def show(self):
        with self.lock:
            if self.moves:
                print(f"\r\033[K{self.line()[:shutil.get_terminal_size().columns - 1]}", end="", flush=True)
            else:
                print(self.line(), flush=True)

    def tick(self):
        while not self.ended.wait(0.5 if self.moves else EACH):
            if self.name:
                self.show()

    def print(self, text):
        """A line that stays."""
        with self.lock:
            print(("\r\033[K" if self.moves else "") + text, flush=True)

    def end(self):
        self.ended.set()
        print("\r\033[K" if self.moves else "", end="", flush=True)
