# SPDX-License-Identifier: MIT
"""Tests the pages of examples/browser in a browser: digits that are drawn with the mouse are read, the writer generates
a text, and both print the checksums that every board prints.

    pages.py PAGES [SCREENSHOTS]

PAGES is the folder that `meson compile pages` makes; SCREENSHOTS gets pictures, light and dark, wide and as on a phone.
"""
import contextlib
import importlib.util
import os
import pathlib
import re
import shutil
import sys

from tests.support import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = pathlib.Path(sys.argv[1]).resolve()
SCREENSHOTS = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
WIDE, PHONE = (1100, 1000), (390, 844)
WAIT = 20  # seconds
DEBIANS = "/usr/bin/python3"

# Strokes on a paper from (0, 0) to (1, 1).
STROKES = {
    0: [[(.5, .15), (.32, .3), (.3, .6), (.4, .85), (.6, .85), (.7, .6), (.68, .3), (.5, .15)]],
    1: [[(.38, .3), (.52, .15), (.52, .85)]],
    4: [[(.5, .12), (.3, .55), (.75, .55)], [(.62, .35), (.6, .88)]],
    3: [[(.3, .2), (.55, .15), (.68, .3), (.48, .48), (.7, .65), (.55, .86), (.3, .8)]],
    7: [[(.28, .18), (.72, .18), (.5, .5), (.42, .88)]]}


def printed(example, what):
    """Returns the value of `what` that every machine prints."""
    return re.search(rf"^{what} +(\S+)$", (ROOT / "examples" / example / "printed.txt").read_text(encoding="utf-8"),
                     re.MULTILINE)[1]


def paragraph():
    """Returns the text that the writer prints by default, in one line."""
    lines = (ROOT / "examples" / "writer" / "printed.txt").read_text(encoding="utf-8").split("\n\n")
    return " ".join(next(part for part in lines if part.startswith("It is a truth")).split())


@contextlib.contextmanager
def browser(page, size=WIDE, dark=False):
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     f"--window-size={size[0]},{size[1]}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options)
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                               {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        driver.get((PAGES / page).as_uri())
        yield driver
        errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        if errors:
            raise AssertionError(f"the browser's console says {errors}")
    finally:
        driver.quit()


def value(driver, name):
    return driver.find_element("id", name).get_property("value")


def wait_for(driver, name, wanted):
    from selenium.webdriver.support.ui import WebDriverWait
    WebDriverWait(driver, WAIT).until(lambda _: wanted(value(driver, name)))


def draw(driver, strokes):
    from selenium.webdriver.common.action_chains import ActionChains
    paper = driver.find_element("id", "paper")
    width, height = paper.size["width"], paper.size["height"]
    for stroke in strokes:
        mouse = ActionChains(driver, duration=5)
        for i, (x, y) in enumerate(stroke):
            mouse.move_to_element_with_offset(paper, round((x - .5) * width), round((y - .5) * height))
            if i == 0:
                mouse.click_and_hold()
        mouse.release().perform()


def reads(digit):
    with browser("digits.html") as driver:
        wait_for(driver, "checksum", lambda text: len(text) == 8)
        draw(driver, STROKES[digit])
        answer = value(driver, "answer")
        sums = driver.execute_script("return [...Array(32).keys()].map("
                                     "row => attention.slice(8 * row, 8 * row + 8).reduce((a, b) => a + b))")
    if any(abs(row - 1) > 1e-5 for row in sums):
        return f"rows of attention add up to {sums}"
    return "" if answer == str(digit) else f"it reads {answer!r}"


def has_checksum_of_boards():
    with browser("digits.html") as driver:
        wait_for(driver, "checksum", lambda text: len(text) == 8)
        found = value(driver, "checksum")
    return "" if found == printed("digits", "crc32 of logits") else f"it is {found}"


def clears_and_shows_examples():
    with browser("digits.html") as driver:
        wait_for(driver, "checksum", lambda text: len(text) == 8)
        first = value(driver, "answer")
        driver.find_element("id", "example").click()
        by_button = value(driver, "answer")
        driver.find_element("id", "paper").send_keys("3")
        by_key = value(driver, "answer")
        driver.find_element("id", "clear").click()
        cleared = value(driver, "answer")
    found = (first, by_button, by_key, cleared)
    return "" if found == ("7", "6", "3", "") else f"it reads {found}"


def writes_what_boards_write():
    with browser("writer.html") as driver:
        wait_for(driver, "checksum", lambda text: text == printed("writer", "crc32 of logits"))
        text = " ".join(driver.find_element("id", "text").text.split())
    return "" if text == paragraph() else f"it writes {text}"


def reports_an_unknown_character():
    with browser("writer.html", PHONE) as driver:
        prompt = driver.find_element("id", "prompt")
        prompt.clear()
        prompt.send_keys("1 + 1 = @")
        driver.find_element("id", "write").click()
        problem = driver.find_element("id", "problem").text
        wide = driver.execute_script("return document.documentElement.scrollWidth")
    if wide > PHONE[0]:
        return f"it is {wide} wide"
    return "" if "never read" in problem else f"it prints {problem!r}"


def fits(page, size, dark):
    """Checks that nothing on a page is wider than the window. Takes a screenshot if SCREENSHOTS is given."""
    with browser(page, size, dark) as driver:
        wait_for(driver, "checksum", lambda text: len(text) == 8)
        if page == "writer.html":
            wait_for(driver, "characters", lambda text: int(text) > 100)
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        if SCREENSHOTS:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            name = f"{page.removesuffix('.html')}-{size[0]}-{'dark' if dark else 'light'}.png"
            driver.get_screenshot_as_file(str(SCREENSHOTS / name))
    return "" if wide <= size[0] else f"it is {wide} wide"


def checks():
    yield from ((f"a {digit} that is drawn is read", reads, digit) for digit in STROKES)
    yield "the logits of the held-out digits are those of every board", has_checksum_of_boards
    yield "a digit is shown at first, by a button and by a key, and cleared", clears_and_shows_examples
    yield "the writer writes what every board writes", writes_what_boards_write
    yield "an unknown character is reported, in a sentence that fits a phone", reports_an_unknown_character
    for page in ("digits.html", "writer.html"):
        for size in (WIDE, PHONE):
            yield from ((f"{page} fits {size[0]} pixels, {'dark' if dark else 'light'}", fits, page, size, dark)
                        for dark in (False, True))


def missing():
    """Returns the first missing tool, or an empty string."""
    if not importlib.util.find_spec("selenium"):
        return "python3-selenium"
    return next((program for program in ("chromium", "chromedriver") if not shutil.which(program)), "")


if __name__ == "__main__":
    if missing() == "python3-selenium" and sys.executable != DEBIANS:  # only that one finds Debian's packages
        os.execv(DEBIANS, [DEBIANS, "-B", "-m", "tests.browser.pages", *sys.argv[1:]])
    if reason := missing():
        reason = f"there is no {reason}"
        tap.report([("pages", tap.Skip, reason)])
    tap.report(list(checks()))
