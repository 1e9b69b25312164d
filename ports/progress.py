# SPDX-License-Identifier: MIT
"""Shows the progress of runs: on a terminal as one line that is updated, elsewhere as a line each half minute.

    ... | ports/progress.py NAME[=SECONDS]...     the runs in their order, and about how long each takes, if known

A line "NAME: building" on stdin says what is done; steps such as ninja's "[3/7]" after it are shown. Other lines are
ignored.
"""
import re
import shutil
import signal
import sys
import threading
import time

EACH = 30  # seconds
STEP = re.compile(r"^ *\[?(\d+)/(\d+)\b")  # a step of ninja, or of Meson's tests


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """The progress of runs. `expected`: {name: seconds}. Several run at once, so together they take `share`
    times the sum of their seconds."""

    def __init__(self, expected, share):
        self.expected = expected  # if a number of seconds is None, the total is unknown
        self.share = share
        self.began = time.monotonic()
        self.running = {}  # {name: (when it began, what it is doing)}
        self.took = {}
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.moves = sys.stdout.isatty()
        threading.Thread(target=self.tick, daemon=True).start()

    def start(self, name):
        with self.lock:
            self.running[name] = time.monotonic(), "starting"
            if self.moves:
                self.show()

    def say(self, name, what):
        with self.lock:
            self.running[name] = self.running[name][0], what

    def count(self, name, doing, line):
        """Shows the number of the step if the line has one."""
        if step := STEP.match(line):
            self.say(name, f"{doing} {step[1]} of {step[2]}")

    def finish(self, name):
        """Ends a run; returns the seconds that it took."""
        with self.lock:
            self.took[name] = time.monotonic() - self.running.pop(name)[0]
            return self.took[name]

    def total(self):
        """Estimates the seconds of all runs: those that have ended tell how fast this machine is."""
        elapsed = time.monotonic() - self.began
        known = sum(self.expected[name] for name in self.took)
        pace = sum(self.took.values()) / known if known else 1
        return max(elapsed, pace * self.share * sum(self.expected.values()))

    def line(self):
        doing = "; ".join(f"{name}: {what}" for name, (_, what) in self.running.items())
        elapsed = time.monotonic() - self.began
        about = "" if None in self.expected.values() else f" of about {clock(self.total())}"
        return f"[{len(self.took)} of {len(self.expected)} done, {clock(elapsed)}{about}] {doing}"

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
        """Prints a line that stays."""
        with self.lock:
            print(("\r\033[K" if self.moves else "") + text, flush=True)

    def end(self):
        self.ended.set()
        print("\r\033[K" if self.moves else "", end="", flush=True)


def main(words):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C it ends when its input ends
    sys.stdin.reconfigure(errors="replace")
    expected = {name: float(seconds) if seconds else None
                for name, _, seconds in (word.partition("=") for word in words)}
    progress = Progress(expected, 1)
    name = doing = None
    for line in sys.stdin:
        first, _, what = line.rstrip().partition(": ")
        if first not in expected:
            if name:
                progress.count(name, doing, line)
            continue
        if first != name:
            if name:
                progress.finish(name)
            progress.start(first)
        name, doing = first, what
        progress.say(name, doing)
    progress.end()


if __name__ == "__main__":
    main(sys.argv[1:])
