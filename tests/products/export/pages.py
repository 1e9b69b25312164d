# SPDX-License-Identifier: MIT
"""The pages that typed_pages.py types, and what they say about mistakes and changes."""
import dataclasses
import os
import pathlib
import shutil

from tests.products.export.exporter import HERE, ROOT

FOR_ARM = ("make", "arm-none-eabi-g++", "arm-none-eabi-size", "qemu-system-arm")
MAKE = "make -B BUILD=build/changed run"
TALK = "make -B -s BUILD=build/changed run < conversation.txt"
TO_BOARD = "PYTHONPATH=tinyattn/ports/pytorch python3 to_board.py 2>&1"
# Makes the line that back.py prints of the two counts of the board.
COUNTED = r"sed -n 's/\(others\|the new user\) [0-9]*$/& of 100/p' | paste -sd, | sed 's/,/, /'"
FAULT = ["fault", "failed"]
APART = """int main() {
  static gestures::Model::Workspace workspace;
  gestures::Model::Features features;
  gestures::Model::Output apart, whole;
  gestures::model.forward_features(gestures::example_input, features, workspace);
  gestures::model.head.forward(features, apart);
  gestures::model.forward(gestures::example_input, whole, workspace);
  return apart == whole ? 0 : 1;
"""


@dataclasses.dataclass(frozen=True)
class Page:
    name: str  # in ports/pytorch
    lines: int  # that are compared, at least
    changes: tuple = ()  # of (what, file, {text: its replacement}, command, the lines that it must print)
    tools: tuple = FOR_ARM
    modules: tuple = ("torch",)  # of Python
    seconds: int = 60  # of processor time, for a block of commands
    prepare: object = None  # what adds to the folder before the page begins

    @property
    def path(self):
        return ROOT / "ports" / "pytorch" / f"{self.name}.md"


def add_freertos(folder):
    """Adds the kernel that FREERTOS, in the environment, names; or a stand-in."""
    kernel = folder / "FreeRTOS-Kernel"
    if clone := os.environ.get("FREERTOS"):
        kernel.symlink_to(pathlib.Path(clone).resolve())
    else:
        (kernel / "include").mkdir(parents=True)
        for header in ("FreeRTOS", "task", "queue"):
            shutil.copy(HERE / "freertos_stand_in.h", kernel / "include" / f"{header}.h")
        shutil.copy(HERE / "freertos_stand_in.c", kernel / "tasks.c")


PAGES = (
    Page("from_sensor_to_product", lines=35, prepare=add_freertos, changes=(
        ("the FPU is off", "startup.c", {" |= 0xfu << 20": " |= 0"}, f"{MAKE} || echo failed", FAULT),
        ("the stack is too small", "board.ld", {"+= 4K": "+= 192"}, f"{MAKE} || echo failed", FAULT),
        ("a binary that does not lie at a multiple of four", "external.cpp",
         {".balign 4\\n": ".balign 4\\n.short 0\\n", "0x21000000": "0x21000002"},
         f"{MAKE} PROGRAM=external MODEL=external || echo failed", FAULT),
        ("another binary", "external.cpp", {"external/gestures.bin": "f32/gestures.hpp"},
         f"{MAKE} PROGRAM=external MODEL=external || echo failed", ["the chip has another binary", "failed"]),
        ("constants in an external flash", "board.ld",
         {"KEEP(*(.external))": "KEEP(*(.external)) *(.rodata.*8gestures5modelE)"},
         f"{MAKE} && arm-none-eabi-size -A build/changed/main.elf",
         ["example_error 0.000000119", ".external 39752 553648128"]),
        ("a binary for a big-endian core", "external.cpp", {},
         "arm-none-eabi-g++ -std=c++20 -mcpu=cortex-m4 -mthumb -mbig-endian -fsyntax-only -DTINYATTN_NO_FPU -Iexternal "
         "-Itinyattn/include -Itinyattn/ports/simd external.cpp 2>&1 | grep -o 'error: static assertion failed'",
         ["error: static assertion failed"]),
        ("a module in training", "train.py", {"net.eval()": "net.train()"},
         "PYTHONPATH=tinyattn/ports/pytorch python3 train.py 2>&1 | grep -o 'in training, where' || echo failed",
         ["in training, where"]),
    )),
    Page("learns_on_the_board", lines=26, changes=(
        ("the nRF is not told to write", "nrf_flash.hpp", {"store(CONFIG, writes)": "store(CONFIG, read_only)"},
         f"make -B power_cut || {MAKE} KEYS=s", ["broken: whole words are written, while CONFIG is 1", "not saved"]),
        *((what, "stm32_flash.hpp", edits, "make -B power_cut || echo failed", [f"broken: {rule}", "failed"])
          for what, edits, rule in (
              ("single words", {"i += 8": "i += 4"}, "the first word of a double word is written first"),
              ("no wait", {"!= 0) {\n    }": "== 1) {\n    }"}, "nothing is stored before BSY is 0"),
              ("another page", {" - memory) / page": " - memory) / page - 1"}, "only the slots are erased, page by page"),
              ("an NMI without an end", {"bus.store(ECCR, ECCD)": ""}, "the NMI clears ECCD, else it comes again"))),
        ("the firmware of an STM32", "main.cpp", {"nrf_flash": "stm32_flash", "NrfFlash<Chip, 1024, 1024>": "Stm32Flash<Chip, 2048, 2048>"},
         "make BUILD=build/stm32 CORE='-mcpu=cortex-m4 -mthumb' | grep -c stm32/main.elf", ["1"]),
        ("the board and PyTorch recognize as many", "back.py", {"print(": "print(recognized(net) == input(), "},
         f"make -s run KEYS=lt | {COUNTED} | python3 back.py",
         ["True PyTorch: others 100 of 100, the new user 94 of 100"]),
        ("features and head compute the bits of forward", "power_cut.cpp", {"int main() {\n": APART},
         "make -B power_cut MODEL=f32 && make -B power_cut MODEL=int8 && echo equal", ["equal"]),
        ("a layer that is not last", "train.py", {'trainable="head"': 'trainable="embed"'},
         "PYTHONPATH=tinyattn/ports/pytorch python3 train.py 2>&1 | grep -o 'trains only a Linear'", ["trains only a Linear"]),
    )),
    Page("conversation", lines=35, seconds=600, tools=(*FOR_ARM, "g++"), modules=("torch", "sentencepiece"), changes=(
        ("bytes that the UART has lost", "uart.c", {"uart->state & RX_OVERRUN": "++received == 3",
         "enum { CLOCK": "static int received;\nenum { CLOCK"}, TALK,
         ["> Hello!", "(some of the line was lost: type it again)", " Nice to meet you, Grace."]),
        ("an answer that does not end", "main.cpp", {"longest_answer = 24": "longest_answer = 3"}, TALK,
         ["> Hello!", " Hello! How ... (cut)", "> My name is Grace.", " Nice to meet ... (cut)"]),
        ("no window", "to_board.py",
         {"window=WINDOW, ": "", '"max_position_embeddings": 128': '"max_position_embeddings": 64',
          '("f32", "f32"), ("int8", "f32"), ("int8", "int8")': '(("int8", "int8"),)'},
         f"{TO_BOARD} | grep -o 'the context of the model is 64'; {TALK}",
         ["the context of the model is 64", " Hello! How can I help?",
          " (the context is full: I forget what was said; type the line again)", " You are welcome."]),
        ("another tokenizer", "train.py", {"vocab_size=PIECES": "vocab_size=PIECES - 1"},
         f"python3 -c 'import train; train.train_tokenizer()'; {TO_BOARD} | grep -o 'the tokenizer has .*'",
         ["the tokenizer has 319 tokens, and the model 320"]),
    )),
)
