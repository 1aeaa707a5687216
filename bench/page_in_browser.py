"""What of the page is measured in Chromium: from the start of a navigation or the press of a key to what is drawn.

What is drawn is seen by the page itself: the rows that fill a screen, all hundred of them, or the picture are there, and the frame
that has them has been laid out and painted by the main thread. A navigation begins in a tab that shows nothing, and has the start
of a process in it. Warm is a browser that has opened the page before, cold is one that has nothing of it.

Beside each time stands the processor that the main thread of the document has had, in the median: all of it, and what of it were
scripts, and style and layout. Of an opened view it is that of its first second, with what comes after the first picture. Other load
of the machine changes it much less than the time.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

ROUNDS: Final = 15
SCREEN: Final = 24
"""The rows that fill a window of 900 pixels (static/groups.js)."""

# Whoever waits for it is called in the rendering of a frame: the message comes when that has been laid out and painted.
_PAINTED: Final = """const painted = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => done(performance.now());
    port1.postMessage(null);
});"""
# It is in the document from the start: to ask from outside costs the document ten milliseconds.
_DRAWN: Final = f"""window.drawn = (async (selector) => {{ {_PAINTED}
    do await new Promise(requestAnimationFrame); while (!document.querySelector(selector));
    return await painted();
}})("%s")"""
_TYPED: Final = f"""async (text) => {{ {_PAINTED}
    const field = document.querySelector("input[type=search]");
    const began = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", {{ bubbles: true }}));
    do await new Promise(requestAnimationFrame); while (document.querySelector("[aria-busy=true]"));
    return await painted() - began;
}}"""
_ZOOMED: Final = f"""async (key) => {{ {_PAINTED}
    const began = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
    do await new Promise(requestAnimationFrame); while (document.querySelector(".frame.old"));
    return await painted() - began;
}}"""
FRAMES: Final = """async () => {
    const slider = document.querySelector("input[type=range]");
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    let frames = 0; const began = performance.now();
    while (performance.now() - began < 3000) {
        set.call(slider, Number(slider.min) + (frames % 100) / 100 * (slider.max - slider.min));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame); frames += 1;
    }
    return frames / 3;
}"""
"""Drags the slider of a group, and returns how many frames a second there are."""


def in_browser(address: str, group: str | None) -> None:
    """Measure the list, or a group at an address of the page, and print what was found."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        (_list if group is None else _group)(browser, address, group or "/")
        browser.close()


def _list(browser: Any, address: str, path: str) -> None:
    _opened(browser, "the first list", address + path, f".groups tbody tr:nth-child({SCREEN})").context.close()
    page = _opened(browser, "all hundred rows", address + path, f".groups tbody + tbody tr:nth-child({100 - SCREEN})")
    words = [
        "p",
        "pa",
        "pay",
        "payments-1",
        "payments-01",
        "svc-1",
        "svc-17",
        "billing 2",
        "billing 27",
        "s",
        "se",
        "sea",
        "-search",
        "",
    ]
    _say("a keystroke in the filter", [_took(page, partial(page.evaluate, _TYPED, word)) for word in words])


def _group(browser: Any, address: str, path: str) -> None:
    page = _opened(browser, "the group", address + path, ".timeline canvas")
    page.locator(".frame:not(.old)").wait_for()
    _say("zoom: the next picture", [_took(page, partial(page.evaluate, _ZOOMED, key)) for key in "+++---+,."])
    frames = page.evaluate(FRAMES)
    print(f"{'in Chromium: the slider':42} {frames:7.1f} frames a second", flush=True)


def _opened(browser: Any, what: str, address: str, selector: str) -> Any:
    """Open a view in cold browsers, then in a warm one, which is returned."""
    page = _page(browser, selector)
    cold: list[Took] = []
    for _ in range(ROUNDS):
        page.context.close()
        page = _page(browser, selector)
        cold.append(_drawn(page, address))
    _say(f"{what}, cold", cold)
    _say(f"{what}, warm", [_drawn(page, address) for _ in range(ROUNDS)])
    return page


def _page(browser: Any, selector: str) -> Any:
    found = browser.new_context(viewport={"width": 1440, "height": 900})
    found.add_init_script(_DRAWN % selector)
    return found.new_page()


class Took(NamedTuple):
    """What was drawn after so long, and how much processor of the main thread went into it, all in ms."""

    ms: float
    tasks_ms: float
    scripts_ms: float
    layout_ms: float


def _drawn(page: Any, address: str) -> Took:
    page.goto("about:blank")
    return _took(page, lambda: _navigate(page, address), is_new=True)


def _navigate(page: Any, address: str) -> float:
    page.goto(address)
    # What comes after the first picture is none of the next one's.
    page.wait_for_timeout(700)
    found: float = page.evaluate("window.drawn")
    return found


def _took(page: Any, do: Callable[[], float], *, is_new: bool = False) -> Took:
    """Do something that returns its time. A document that is new has a thread of its own, which has used nothing before."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = [0.0, 0.0, 0.0] if is_new else _used_ms(session)
    took_ms = do()
    found = Took(took_ms, *(now - then for now, then in zip(_used_ms(session), before, strict=True)))
    session.detach()
    return found


def _used_ms(session: Any) -> list[float]:
    found = {each["name"]: 1000 * each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return [found["TaskDuration"], found["ScriptDuration"], found["LayoutDuration"] + found["RecalcStyleDuration"]]


def _say(what: str, all_took: Sequence[Took]) -> None:
    found = sorted(each.ms for each in all_took)
    tasks, scripts, layout = (statistics.median(column) for column in list(zip(*all_took, strict=True))[1:])
    print(
        f"{'in Chromium: ' + what:42} p50 {statistics.median(found):7.1f} longest {found[-1]:7.1f} ms of {len(found)};"
        f" processor {tasks:6.1f}, scripts {scripts:5.1f}, layout {layout:5.1f} ms",
        flush=True,
    )
