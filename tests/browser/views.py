"""The page in a real Chromium: ``make browser``. With PAGE_PICTURES=DIR it writes the pictures of docs/page.md there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.support.page_log import Story, indexed

HOUR_MS = 3_600_000
HOSTILE = "<img src=x onerror=document.title='run'>\u202e" + "x" * 200
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def stories() -> list[Story]:
    """A group with a troubled day, an empty one, a deleted one, one of a hostile client, and a hundred more."""
    now_ms = round(time.time() * 1000)
    told = Story("billing-invoices", partitions=12, now_ms=now_ms - 26 * HOUR_MS)
    told.join("billing-1").commit(times=200, ms=20_000).join("billing-2").commit(times=300, ms=20_000).join("billing-3")
    told.commit(times=800, ms=20_000).leave(1, "session-timeout").wait(90_000).join("billing-2").commit(times=500, ms=20_000)
    for _ in range(6):
        told.leave(2, "session-timeout").wait(8000).join("billing-3").commit(times=3, ms=9000)
    told.reset(0).commit(times=900, ms=20_000, step=80).join("billing-4").commit(times=1900, ms=20_000)
    found = [told, Story(HOSTILE, now_ms=now_ms - HOUR_MS).join(HOSTILE).commit(times=4)]
    found.append(Story("mailer", now_ms=now_ms - HOUR_MS).join("mailer-1").commit(times=9).leave())
    found.append(Story("retired", now_ms=now_ms - 5 * HOUR_MS).join("retired-1").commit(times=9).leave().delete())
    for number in range(120):
        kind = ("payments", "shipping", "audit", "search", "fraud-check")[number % 5]
        name = f"{kind}-{('eu', 'us', 'ap')[number % 3]}-{number:03}"
        topic = ("orders", "payments", "clicks")[number % 3]
        one = Story(name, topic, 1 + number % 6, now_ms - (1 + number * 7 % 29) * HOUR_MS, number)
        one.join(f"svc-{number % 11}").commit(times=3)
        if number % 4 == 0:
            one.join(f"svc-{number % 7}").commit().leave(0, "session-timeout").commit()
        found.append(one)
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = indexed(tmp_path_factory.mktemp("page"), stories(), 1 << 16)
    command = [sys.executable, "-m", "coordinator_server", "page", "--listen", "127.0.0.1:0", "--data-dir", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[2].rstrip("/")
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert CHROMIUM is not None, "Chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.getuid() == 0 else [])
        yield found
        found.close()


class View:
    """A window of the browser. Whatever its console says is an error."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.page = browser.new_page(**({"viewport": {"width": 1440, "height": 900}} | options))
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.address = address

    def go(self, path: str) -> Any:
        self.page.goto(self.address + path)
        return self.page


@pytest.fixture
def view(browser: Any, address: str) -> Iterator[View]:
    found = View(browser, address)
    yield found
    found.page.close()
    assert found.said == []


def rows(page: Any) -> list[str]:
    return [each.strip() for each in page.locator(".groups tbody th").all_inner_texts()]


GROUP = "/group?id=billing-invoices"


def test_the_list_is_filtered_as_one_types(view: View) -> None:
    page = view.go("/")
    expect(page.locator(".groups tbody tr")).to_have_count(100)
    page.keyboard.press("/")
    page.keyboard.type("billing")
    expect(page.locator(".groups tbody tr")).to_have_count(1)

    assert rows(page) == ["billing-invoices"]
    assert page.url.endswith("?q=billing")
    page.keyboard.press("Escape")
    expect(page.locator(".groups tbody tr")).to_have_count(100)


def test_the_list_is_sorted_and_comes_in_portions(view: View) -> None:
    page = view.go("/")
    page.get_by_role("button", name="Members").click()
    expect(page.locator(".groups tbody tr").first).to_contain_text("billing-invoices")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("101\u2013123 of 123")).to_be_visible()

    assert "sort=members" in page.url
    page.go_back()
    expect(page.get_by_text("1\u2013100 of 123")).to_be_visible()


def test_groups_that_were_deleted_are_found(view: View) -> None:
    page = view.go("/")
    page.get_by_role("button", name="deleted").click()
    expect(page.locator(".groups tbody tr")).to_have_count(1)

    assert rows(page) == ["retired"]


def test_a_filter_without_groups_says_so(view: View) -> None:
    page = view.go("/?q=nothing-of-the-kind")
    expect(page.get_by_role("heading", name="No group matches")).to_be_visible()
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.locator(".groups tbody tr")).to_have_count(100)


def test_a_group_is_reached_and_explored_by_keyboard(view: View) -> None:
    page = view.go("/?q=billing")
    expect(page.locator(".groups tbody tr")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="billing-invoices")).to_be_visible()
    expect(page.locator(".timeline canvas")).to_be_visible()
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="At this moment")).to_be_visible()
    page.keyboard.press("c")
    page.wait_for_url("**vs=*")
    page.keyboard.press("[")
    expect(page.get_by_role("heading", name="Difference")).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_text("Partitions and their owners in this time")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page.get_by_role("heading", name="Groups")).to_be_visible()


def test_zoom_and_moment_are_in_the_address(view: View) -> None:
    """Sent to a colleague, it shows the same."""
    page = view.go(GROUP)
    expect(page.locator(".timeline canvas")).to_be_visible()
    page.keyboard.press("[")
    page.keyboard.press("+")
    page.wait_for_url("**from=*")
    page.wait_for_url("**at=*")
    page.locator(".frame:not(.old)").wait_for()
    text = page.locator(".panel time").first.inner_text()
    page.goto("about:blank")
    page.go_back()
    expect(page.locator(".panel time").first).to_have_text(text)


def test_the_moment_follows_the_pointer(view: View) -> None:
    page = view.go(GROUP)
    expect(page.locator(".timeline canvas")).to_be_visible()
    box = page.locator(".timeline canvas").bounding_box()
    page.mouse.move(box["x"] + 192, box["y"] + 120)
    page.mouse.down()
    expect(page.locator(".panel").get_by_text("1 member", exact=True)).to_be_visible()
    page.mouse.move(box["x"] + 700, box["y"] + 120, steps=20)
    page.mouse.up()
    expect(page.locator(".panel").get_by_text("3 members", exact=True)).to_be_visible()


def test_names_of_clients_run_nothing(view: View) -> None:
    page = view.go(f"/group?id={quote(HOSTILE)}")
    expect(page.locator("h1")).to_contain_text("<img src=x onerror=document.title='run'>\\u202exxx")
    expect(page.locator(".timeline canvas")).to_be_visible()

    assert page.title() != "run"
    assert page.locator("main img").count() == 0


def test_a_group_that_is_not_there(view: View) -> None:
    page = view.go("/group?id=none")
    expect(page.get_by_role("heading", name="There is no such group")).to_be_visible()
    view.said.clear()  # the browser logs each answer that is 404


def test_the_log_names_the_directory(view: View) -> None:
    page = view.go("/log")
    expect(page.get_by_text("AAAAAAAAAAAAAAAAAAAAAQ")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)


@pytest.mark.parametrize("path", ["/", GROUP, "/log"])
@pytest.mark.parametrize("width", [360, 800])
def test_narrow_screens_need_no_sideways_scroll(browser: Any, address: str, path: str, width: int) -> None:
    view = View(browser, address, viewport={"width": width, "height": 800})
    page = view.go(path)
    page.locator("tbody tr").first.wait_for()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.close()


def test_how_fast_it_is(view: View, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures for bench/README.md: nothing is asserted on time."""
    page = view.go(GROUP)
    expect(page.locator(".timeline canvas")).to_be_visible()
    frames = page.evaluate("""async () => {
        const slider = document.querySelector("input[type=range]");
        const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
        let frames = 0; const began = performance.now();
        while (performance.now() - began < 2000) {
            set.call(slider, Number(slider.min) + (frames % 100) / 100 * (slider.max - slider.min));
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise(requestAnimationFrame); frames += 1;
        }
        return frames / 2;
    }""")
    with capsys.disabled():
        print(f"\nthe slider moves at {frames:.0f} frames a second")  # noqa: T201 - figures are printed


@pytest.mark.parametrize(
    ("name", "path", "scheme"),
    [
        ("groups", "/", "light"),
        ("groups-dark", "/", "dark"),
        ("group", GROUP, "light"),
        ("group-dark", GROUP, "dark"),
        ("group-difference", f"{GROUP}&vs=compare", "light"),
    ],
)
def test_pictures(browser: Any, address: str, tmp_path: Path, name: str, path: str, scheme: str) -> None:
    """To be looked at, one by one."""
    view = View(browser, address, color_scheme=scheme, viewport={"width": 1280, "height": 1180 if "group?" in path else 760})
    page = view.go(path.replace("&vs=compare", ""))
    page.locator("tbody tr").first.wait_for()
    if "compare" in path:
        page.keyboard.press("[")
        page.keyboard.press("c")
        page.wait_for_url("**vs=*")
        page.keyboard.press("[")
        page.get_by_role("heading", name="Difference").wait_for()
    page.wait_for_timeout(500)  # what is drawn on a canvas has no element to wait for
    directory = Path(os.environ.get("PAGE_PICTURES") or tmp_path)
    page.screenshot(path=directory / f"{name}.png")
    assert view.said == []
    page.close()
