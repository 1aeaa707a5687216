"""The page in a real Chromium, to be looked at: with PAGE_PICTURES=DIR it writes the pictures of docs/page.md there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from bench.page_in_browser import FRAMES
from tests.browser.views import GROUP, LOADED, WHAT_IF, View, view

__all__ = ["view"]


@pytest.mark.parametrize(
    ("name", "path", "scheme"),
    [
        ("groups", "/?sort=lag&desc=1", "light"),
        ("groups-dark", "/?sort=lag&desc=1", "dark"),
        ("group", GROUP, "light"),
        ("group-dark", GROUP, "dark"),
        ("group-difference", f"{GROUP}&vs=compare", "light"),
        ("what-if", WHAT_IF, "light"),
        ("what-if-dark", WHAT_IF, "dark"),
        ("clients", "/clients", "light"),
        ("topics-dark", "/topics", "dark"),
        ("rebalance", "live:/group?id=payments", "light"),
        ("transactions", "live:/transactions", "light"),
        ("transactions-dark", "live:/transactions", "dark"),
        ("shares", "live:/shares", "light"),
        ("log", "live:/log", "light"),
        ("log-dark", "live:/log", "dark"),
        ("doctor", "live:/doctor", "light"),
    ],
)
def test_pictures(browser: Any, sites: Mapping[str, str], tmp_path: Path, name: str, path: str, scheme: str) -> None:
    """To be looked at, one by one."""
    most = 760 if "id=" not in path else 880 if path.startswith("live:") else 1360
    at, _, path = path.rpartition(":")
    view = View(browser, sites[at], color_scheme=scheme, viewport={"width": 1360, "height": most})
    page = view.go(path.replace("&vs=compare", ""))
    page.locator(LOADED).first.wait_for()
    if "compare" in path:
        page.keyboard.press("[")
        page.keyboard.press("c")
        page.wait_for_url("**vs=*")
        page.keyboard.press("[")
        page.get_by_role("heading", name="Difference").wait_for()
    expect(page.locator(".plot .side .quiet")).to_have_count(0, timeout=60_000)  # all that is counted has been read
    page.wait_for_timeout(500)  # what is drawn on a canvas has no element to wait for
    # Without the place for a scroll bar, which this browser does not show, and as high as there is something to see.
    page.evaluate("document.documentElement.style.scrollbarGutter = 'auto'")
    height = min(
        most, page.evaluate("Math.ceil(document.querySelector('main').lastElementChild.getBoundingClientRect().bottom) + 24")
    )
    page.set_viewport_size({"width": 1360, "height": max(height, 480)})
    page.wait_for_timeout(300)
    directory = Path(os.environ.get("PAGE_PICTURES") or tmp_path)
    page.screenshot(path=directory / f"{name}.png")
    assert view.said == []
    page.close()


def test_how_fast_it_is(view: View, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures for bench/README.md: nothing is asserted on time."""
    page = view.go(GROUP)
    expect(page.locator(".timeline canvas")).to_be_visible()
    frames = page.evaluate(FRAMES)
    with capsys.disabled():
        print(f"\nthe slider moves at {frames:.0f} frames a second")  # noqa: T201 - figures are printed
