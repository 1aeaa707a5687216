"""What of the page is measured in Chromium: from the start of a navigation or the press of a key to what is drawn."""

from __future__ import annotations

import shutil
import statistics
from typing import Any, Final

ROUNDS: Final = 9

_DRAWN: Final = """(selector) => new Promise((done) => {
    const drawn = () => done(performance.now());
    const look = () => requestAnimationFrame(document.querySelector(selector) ? drawn : look);
    look();
})"""
_TYPED: Final = """(text) => new Promise((done) => {
    const field = document.querySelector("input[type=search]");
    const wanted = new URLSearchParams({ q: text }).toString();
    const began = performance.now();
    const look = () => {
        const asked = performance.getEntriesByType("resource").filter((each) => each.startTime >= began);
        const last = asked.findLast((each) => each.name.includes(wanted));
        if (last?.responseEnd) requestAnimationFrame(() => done(performance.now() - began));
        else requestAnimationFrame(look);
    };
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    look();
})"""
_ZOOMED: Final = """(key) => new Promise((done) => {
    const began = performance.now();
    let was = false;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const look = () => {
        const isOld = document.querySelector(".frame.old") !== null;
        if (was && !isOld) { done(performance.now() - began); return; }
        was ||= isOld;
        requestAnimationFrame(look);
    };
    look();
})"""
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
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        (_list if group is None else _group)(page, address, group or "/")
        browser.close()


def _list(page: Any, address: str, path: str) -> None:
    _say("the first list, drawn", [_drawn(page, address + path, ".groups tbody tr") for _ in range(ROUNDS)])
    words = ["p", "pa", "pay", "payments-1", "payments-12", "svc-1", "svc-17", "billing 2", "billing 27"]
    _say("a keystroke in the filter", [page.evaluate(_TYPED, word) for word in words])


def _group(page: Any, address: str, path: str) -> None:
    _say("the group, drawn", [_drawn(page, address + path, ".timeline canvas") for _ in range(ROUNDS)])
    page.locator(".frame:not(.old)").wait_for()
    _say("zoom: the exact picture", [page.evaluate(_ZOOMED, key) for key in "+++---+,."])
    frames = page.evaluate(FRAMES)
    print(f"{'in Chromium: the slider':42} {frames:7.1f} frames a second", flush=True)


def _drawn(page: Any, address: str, selector: str) -> float:
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    found: float = page.evaluate(_DRAWN, selector)
    return found


def _say(what: str, times_ms: list[float]) -> None:
    found = sorted(times_ms)
    print(
        f"{'in Chromium: ' + what:42} p50 {statistics.median(found):7.1f} longest {found[-1]:7.1f} ms of {len(found)}", flush=True
    )
