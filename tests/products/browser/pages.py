# SPDX-License-Identifier: MIT
"""Tests the pages of examples/browser in a browser: the digits page reads digits drawn
with the mouse, the writer generates a text, the listener hears recordings and a microphone, a model
learns, and all print the checksums that every board prints.

    pages.py PAGES

PAGES is the folder that `meson compile pages` makes.
"""
import array
import contextlib
import pathlib
import re
import shutil
import sys
import tempfile
import wave

from examples.support import tables
from tests.support import debian, tap
from tests.support.processes import ROOT

LACKS = debian.missing("selenium") or next(
    (program for program in ("chromium", "chromedriver") if not shutil.which(program)), "")
if LACKS:
    tap.report([("pages", tap.Skip(f"there is no {LACKS}"))])
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

PAGES = pathlib.Path(sys.argv[1]).resolve()
WIDE, PHONE = (1100, 1000), (390, 844)
WAIT = 20  # seconds

# Strokes on a paper from (0, 0) to (1, 1).
STROKES = {
    0: [[(.5, .15), (.32, .3), (.3, .6), (.4, .85), (.6, .85), (.7, .6), (.68, .3), (.5, .15)]],
    1: [[(.38, .3), (.52, .15), (.52, .85)]],
    4: [[(.5, .12), (.3, .55), (.75, .55)], [(.62, .35), (.6, .88)]],
    3: [[(.3, .2), (.55, .15), (.68, .3), (.48, .48), (.7, .65), (.55, .86), (.3, .8)]],
    7: [[(.28, .18), (.72, .18), (.5, .5), (.42, .88)]]}
NUMBERS = "zero one two three four five six seven eight nine".split()
ROW_SUMS = """return [...Array(32).keys()].map(
    row => attention.slice(8 * row, 8 * row + 8).reduce((a, b) => a + b))"""


def printed(example):
    """Returns the checksum and the text that every machine prints, the text in one line."""
    text = (ROOT / "examples" / example / "printed.txt").read_text(encoding="utf-8")
    written = re.search(r"^It is a truth(.|\n)*?\n\n", text, re.MULTILINE)
    return re.search(r"^crc32 of \w+ +(\S+)$", text, re.MULTILINE)[1], written and one_line(written[0])


def one_line(text):
    return " ".join(text.split())


def heard_right():
    """Returns {recording: digit} of what the listener hears right on every machine."""
    text = (ROOT / "examples" / "listener" / "printed.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^(\w+|-) +(\w+|-) +[\d.]{25}", text, re.MULTILINE)
    return {i: str(NUMBERS.index(said)) for i, (said, heard) in enumerate(rows) if said == heard != "-"}


@contextlib.contextmanager
def browser(page, size=WIDE, more=()):
    """Opens a page, and waits until it shows its checksum. Afterwards its console may not have
    errors."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *more):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options)
    try:
        width, height = size
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        driver.get((PAGES / page).as_uri())
        wait_for(driver, "checksum", lambda text: len(text) == 8)
        yield driver
        errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert not errors, f"the browser's console says {errors}"
    finally:
        driver.quit()


def value(driver, name):
    return driver.find_element("id", name).get_property("value")


def wait_for(driver, name, is_right):
    WebDriverWait(driver, WAIT).until(lambda _: is_right(value(driver, name)))


def draw(driver, strokes):
    paper = driver.find_element("id", "paper")
    for stroke in strokes:
        mouse = ActionChains(driver, duration=5)
        for i, (x, y) in enumerate(stroke):
            mouse.move_to_element_with_offset(
                paper, round((x - .5) * paper.size["width"]), round((y - .5) * paper.size["height"]))
            if i == 0:
                mouse.click_and_hold()
        mouse.release().perform()


def reads(digit):
    with browser("digits.html") as driver:
        draw(driver, STROKES[digit])
        answer, sums = value(driver, "answer"), driver.execute_script(ROW_SUMS)
    if any(abs(row - 1) > 1e-5 for row in sums):
        return f"rows of attention add up to {sums}"
    return "" if answer == str(digit) else f"it reads {answer!r}"


def shows_examples():
    with browser("digits.html") as driver:
        found = [value(driver, "checksum"), value(driver, "answer")]
        for act in (driver.find_element("id", "example").click,
                    lambda: driver.find_element("id", "paper").send_keys("3"),
                    driver.find_element("id", "clear").click):
            act()
            found.append(value(driver, "answer"))
    return "" if found == [printed("digits")[0], "7", "6", "3", ""] else f"it shows {found}"


def learns_a_hand():
    """Has the page learn the hand that boards learn, and forget it."""
    text = (ROOT / "examples/digits/printed_learn.txt").read_text(encoding="utf-8")
    before, _, after = re.findall(r"^crc32 of weights +(\S+)$", text, re.MULTILINE)
    kept = re.findall(r"^first test .*, (\d+) of 360", text, re.MULTILINE)[-1]
    with browser("digits.html") as driver:
        driver.find_element("id", "hand").click()
        driver.find_element("id", "learn").click()
        wait_for(driver, "mean-loss", lambda loss: loss.endswith("after 10 epochs"))
        found = [value(driver, name) for name in ("weights-checksum", "kept", "taught")]
        driver.find_element("id", "forget").click()
        found.append(value(driver, "weights-checksum"))
    expected = [after, kept, "100, of which 99 are read right", before]
    return "" if found == expected else f"it shows {found}"


def learns_what_is_drawn():
    """Labels a drawn 7 as a 1, and has the page learn that."""
    with browser("digits.html", PHONE) as driver:
        draw(driver, STROKES[7])
        driver.find_elements("css selector", "#labels button")[1].click()
        driver.find_element("id", "learn").click()
        wait_for(driver, "mean-loss", lambda loss: loss.endswith("after 10 epochs"))
        answer = value(driver, "answer")
        return too_wide(driver, PHONE) or ("" if answer == "1" else f"it reads {answer!r}")


def writes_what_boards_write():
    checksum, written = printed("writer")
    with browser("writer.html") as driver:
        wait_for(driver, "checksum", lambda text: text == checksum)
        WebDriverWait(driver, WAIT).until(lambda _: not driver.find_element("id", "stop").is_enabled())
        text = one_line(driver.find_element("id", "text").text)
    return "" if text == written else f"it writes {text}"


def writes_for_ever():
    """Has the page write more than a paragraph, and stops it."""
    with browser("writer.html") as driver:
        for name in ("for-ever", "write"):
            driver.find_element("id", name).click()
        wait_for(driver, "characters", lambda text: int(text) > 500)
        driver.find_element("id", "stop").click()
        written, text = printed("writer")[1], driver.find_element("id", "text").text
        stopped = value(driver, "characters")
        driver.execute_async_script("setTimeout(arguments[0], 100)")
        is_still = value(driver, "characters") == stopped
    return "" if is_still and one_line(text).startswith(written) else f"it writes {text}"


def hears_recordings():
    """Plays some recordings, one after the other; each is heard as every board hears it."""
    wrong, expected = [], heard_right()
    with browser("listener.html") as driver:
        buttons = driver.find_elements("css selector", "#recordings button")
        for recording, digit in list(expected.items())[:4]:
            buttons[recording].click()
            WebDriverWait(driver, WAIT).until(lambda _: not driver.find_element("id", "stop").is_enabled())
            if value(driver, "heard") != digit:
                wrong.append(f"{digit} as {value(driver, 'heard')!r}")
        is_right = value(driver, "checksum") == printed("listener")[0]
    return f"it hears {', '.join(wrong)}" if wrong else "" if is_right else "its checksum differs from the boards'"


def write_sound(path, recordings):
    """Writes a WAV file of these recordings, at 8 kHz: the browser takes it for a microphone."""
    _, (_, length), samples = tables.read(ROOT / "examples/listener/recordings.safetensors")["samples"]
    chosen = [256 * sample for i in recordings for sample in samples[i * length:(i + 1) * length]]
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(array.array("h", chosen).tobytes())


def hears_the_microphone():
    """Plays a digit over and over to the microphone."""
    recording, digit = next(iter(heard_right().items()))
    with tempfile.TemporaryDirectory() as folder:
        write_sound(f"{folder}/sound.wav", [recording])
        with browser("listener.html", more=(
                "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
                f"--use-file-for-fake-audio-capture={folder}/sound.wav")) as driver:
            driver.find_element("id", "microphone").click()
            wait_for(driver, "heard", lambda text: f"{digit} {digit}" in text)
            driver.find_element("id", "stop").click()
    return ""


def needs_a_microphone():
    with browser("listener.html", PHONE, ["--deny-permission-prompts"]) as driver:
        driver.find_element("id", "microphone").click()
        WebDriverWait(driver, WAIT).until(lambda _: driver.find_element("id", "problem").text)
        is_enabled = driver.find_element("id", "microphone").is_enabled()
        return too_wide(driver, PHONE) or ("" if is_enabled else "the button is off")


def learns_what_boards_learn():
    """Trains to the end, and checks where each row of the attention map has its largest weight."""
    checksum, _ = printed("learner")
    with browser("learner.html") as driver:
        wait_for(driver, "step", lambda text: text == "120")
        found = [value(driver, name) for name in ("checksum", "weights", "answer", "seed")]
        places = driver.execute_script("""return [...Array(8).keys()].map(row => {
            const weights = now.slice(8 * row, 8 * row + 8);
            return weights.indexOf(Math.max(...weights)); })""")
    if found != [checksum, checksum, "62951413", "1"]:
        return f"it shows {found}"
    return "" if places == [7, 6, 5, 4, 3, 2, 1, 0] else f"the head looks at {places}"


def learns_from_another_seed():
    """Pauses, continues, reads other digits, and starts from another seed, which leads to other weights."""
    with browser("learner.html", PHONE) as driver:
        pause = driver.find_element("id", "pause")
        wait_for(driver, "step", lambda text: int(text) > 5)
        pause.click()
        paused = value(driver, "step"), value(driver, "weights")
        driver.execute_async_script("setTimeout(arguments[0], 300)")
        is_still = (value(driver, "step"), value(driver, "weights")) == paused
        pause.click()
        wait_for(driver, "step", lambda text: int(text) > int(paused[0]))
        is_new = driver.execute_script("""document.getElementById("another").click();
            return seed === 2 && losses.length === 0;""")
        digits = driver.find_element("id", "digits")
        digits.clear()
        is_empty = value(driver, "answer") == ""
        digits.send_keys("12345678")
        wait_for(driver, "step", lambda text: text == "120")
        found = is_still, is_new, is_empty, value(driver, "answer"), value(driver, "weights") != value(driver, "checksum")
        return too_wide(driver, PHONE) or ("" if found == (True, True, True, "87654321", True) else f"it shows {found}")


def too_wide(driver, size):
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    return f"it is {wide} wide" if wide > size[0] else ""


def reports_an_unknown_character():
    with browser("writer.html", PHONE) as driver:
        prompt = driver.find_element("id", "prompt")
        prompt.clear()
        prompt.send_keys("1 + 1 = @")
        driver.find_element("id", "write").click()
        problem = driver.find_element("id", "problem").text
        return too_wide(driver, PHONE) or ("" if "never read" in problem else f"it prints {problem!r}")


def fits(page, size):
    with browser(page, size) as driver:
        if page == "writer.html":
            wait_for(driver, "characters", lambda text: int(text) > 100)
        return too_wide(driver, size)


tap.report([
    *((f"a {digit} that is drawn is read", reads, digit) for digit in STROKES),
    ("the checksum of every board, and a digit at first, by a button and by a key", shows_examples),
    ("it learns a hand as every board does, and forgets it", learns_a_hand),
    ("it learns what is drawn", learns_what_is_drawn),
    ("the writer writes what every board writes", writes_what_boards_write),
    ("the writer writes for ever, until it is stopped", writes_for_ever),
    ("an unknown character is reported, in a sentence that fits a phone", reports_an_unknown_character),
    ("recordings are heard as every board hears them", hears_recordings),
    ("a digit that is said to the microphone is heard", hears_the_microphone),
    ("without a microphone the page says so, in a sentence that fits a phone", needs_a_microphone),
    ("a model learns, to the weights of every board, and its head looks the other way round", learns_what_boards_learn),
    ("it can be paused, reads any digits, and learns from another seed", learns_from_another_seed),
    *((f"{page} fits {size[0]} pixels", fits, page, size)
      for page in ("digits.html", "writer.html", "listener.html", "learner.html") for size in (WIDE, PHONE))])
