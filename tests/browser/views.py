"""The page in a real Chromium: ``make browser``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import HOSTILE

AXE = (Path(find_spec("axe_playwright_python").origin or "").parent / "axe.min.js").read_text()  # type: ignore[union-attr]


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
LOADED = "main .what-if .changes, main > :not(.what-if) table.list, main .findings, main .nothing, main > :not(.what-if) p.quiet"


def test_the_list_is_filtered_as_one_types(view: View) -> None:
    page = view.go("/")
    expect(page.locator(".groups tbody tr")).to_have_count(100)
    page.keyboard.press("/")
    page.keyboard.type("billing")
    expect(page.locator(".groups tbody tr")).to_have_count(1)

    assert rows(page) == ["billing-invoices"]
    page.wait_for_url("**/?q=billing")
    page.keyboard.press("Escape")
    expect(page.locator(".groups tbody tr")).to_have_count(100)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "groups"),
        ("/?q=a&sort=lag&desc=1", "groups"),
        ("/?first=100", "groups"),
        (f"{GROUP}&at=1764000000000&table=1", "picture"),
        ("/clients?q=b&past=1", "clients"),
        ("/topics?q=o", "topics"),
        ("/transactions", "transactions"),
        ("/shares", "shares"),
        ("/log", "log"),
    ],
)
def test_what_a_view_shows_is_asked_once_and_before_its_modules_are_there(view: View, path: str, name: str) -> None:
    """early.js asks, the view takes the answer, and does not ask again when it hears of the version that it has."""
    answers: list[tuple[str, str]] = []

    def note(response: Any) -> None:
        if "/api/" in response.url:
            answers.append((response.url.removeprefix(view.address), response.headers.get("page-version")))

    view.page.on("response", note)
    page = view.go(path)
    page.locator(LOADED).first.wait_for()
    page.locator(".status .dot.still").wait_for()
    page.wait_for_timeout(300)

    found = [each for each in answers if each[0].startswith(f"/api/{name}?")]
    assert {url for url, _ in found} == {page.evaluate("window.early.question.url")}
    # A picture is asked for again until all of it has been read.
    assert len(found) == len(set(found)) or name == "picture"


def test_the_list_is_sorted_and_comes_in_portions(view: View) -> None:
    page = view.go("/")
    page.get_by_role("button", name="Members").click()
    expect(page.locator(".groups tbody tr").first).to_contain_text("billing-invoices")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("101\u2013123 of 123")).to_be_visible()

    page.wait_for_url("**sort=members*")
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
    expect(page.get_by_label("Filter groups")).to_be_focused()


def test_keys_turn_pages_up_to_both_ends_without_losing_their_place(view: View) -> None:
    page = view.go("/")
    following, before = (page.get_by_role("button", name=name) for name in ("Next", "Previous"))
    following.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        expect(page.get_by_text("101\u2013123 of 123")).to_be_visible()
        expect(following).to_be_focused()
        expect(following).to_be_in_viewport()
    before.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        expect(page.get_by_text("1\u2013100 of 123")).to_be_visible()
        expect(before).to_be_focused()


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


def test_who_comes_back_is_where_they_left(view: View) -> None:
    """The same rows at once, at the same place, with the focus on the row that was opened; j and k lead over the ends of pages."""
    page = view.go("/?sort=members&desc=1")
    expect(page.locator(".groups tbody tr")).to_have_count(100)
    page.locator("tbody th a").nth(98).focus()
    page.keyboard.press("j")
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.locator(".timeline canvas")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_in_viewport()
    page.keyboard.press("j")
    expect(page.get_by_text("101\u2013123 of 123")).to_be_visible()
    expect(page.locator("tbody th a").first).to_be_focused()
    page.keyboard.press("k")
    expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()


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
    page.wait_for_timeout(500)
    view.said = [each for each in view.said if "404" not in each]  # the browser logs each answer that is 404


def test_the_log_names_the_directory(view: View) -> None:
    page = view.go("/log")
    expect(page.get_by_text("AAAAAAAAAAAAAAAAAAAAAQ")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_the_lag_of_a_group_is_in_the_list_and_over_time(view: View) -> None:
    page = view.go("/?q=billing")
    expect(page.locator(".health").first).to_be_visible()
    page.go_back()
    page = view.go("/?q=health:unknown")
    expect(page.locator(".groups tbody tr").first).to_be_visible()
    page = view.go(GROUP)
    for text in ("consumed", "unread"):
        expect(page.locator(".plot .side", has_text=text)).to_be_visible()
    expect(page.get_by_role("heading", name="Lag and rate")).to_be_visible()


def test_who_consumes_a_topic_and_where_a_client_is(view: View) -> None:
    page = view.go("/topics")
    page.locator("tbody tr").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("pay")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody th a").click()
    expect(page.locator(".groups tbody tr").first).to_be_visible()
    page.wait_for_url("**topic*")
    page = view.go("/clients?q=billing-4")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name="billing-invoices").click()
    expect(page.get_by_role("heading", name="billing-invoices")).to_be_visible()


def test_a_running_server_says_what_goes_on(browser: Any, live: str) -> None:
    view = View(browser, live)
    page = view.go("/?q=payments")
    expect(page.locator(".state.rebalancing").first).to_be_visible()
    page.get_by_role("link", name="payments").click()
    expect(page.get_by_role("heading", name="Rebalance in progress")).to_be_visible()
    page = view.go("/transactions")
    expect(page.get_by_text("1 open transaction", exact=True)).to_be_visible()
    expect(page.locator("tbody th", has_text="billing-us")).to_be_visible()
    page = view.go("/shares")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_text("3 deliveries")).to_be_visible()
    page = view.go("/log")
    expect(page.get_by_text("1 loop of the server")).to_be_visible()
    page = view.go("/doctor")
    expect(page.locator(".findings li").first).to_be_visible()
    page.close()

    assert view.said == []


def test_what_if_is_asked_and_sent(view: View) -> None:
    """From the group in the window that is shown; what one chooses is in the address."""
    page = view.go(f"{GROUP}&table=1")
    page.get_by_role("link", name="what if").click()
    expect(page.locator(".figures tbody tr")).to_have_count(6)
    assert page.locator(".figures thead th").count() == 2
    page.get_by_role("button", name="session of", exact=False).first.click()
    page.get_by_role("button", name="cooperative-sticky").first.click()
    expect(page.locator(".figures thead")).to_contain_text("With cooperative-sticky, sessions of")
    expect(page.locator(".timeline canvas")).to_have_count(2)
    expect(page.locator(".changes tbody")).to_contain_text("no change")
    page.wait_for_url("**assignor=cooperative-sticky*")
    page.goto(page.url)
    expect(page.locator(".figures thead")).to_contain_text("With cooperative-sticky, sessions of")
    assert {each.inner_text() for each in page.locator(".figures .certain").all()} <= {"known", "bound", "unknown"}
    page.locator("main").focus()
    page.keyboard.press("t")
    expect(page.get_by_text("Partitions and their owners in this time")).to_have_count(2)
    page.locator(".toolbar").get_by_role("button", name="15 min").click()
    expect(page.get_by_role("heading", name="Nothing to play")).to_be_visible()
    page.get_by_label("Back to the group").click()
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    page.wait_for_url("**from=*")


WHAT_IF = "/what-if?id=billing-invoices&session=60000&static=1&assignor=cooperative-sticky"
EVERY_VIEW = ["/", GROUP, f"{GROUP}&table=1", WHAT_IF, "/clients", "/topics", "/transactions", "/shares", "/log", "/doctor"]


@pytest.mark.parametrize("path", EVERY_VIEW)
@pytest.mark.parametrize("width", [360, 800])
def test_narrow_screens_need_no_sideways_scroll(browser: Any, live: str, address: str, path: str, width: int) -> None:
    for site in (address, live):
        view = View(browser, site, viewport={"width": width, "height": 800})
        page = view.go(path.replace("billing-invoices", "payments" if site == live else "billing-invoices"))
        page.locator(LOADED).first.wait_for()

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("at", ["", "live"])
def test_axe_has_no_findings(browser: Any, sites: Mapping[str, str], at: str, scheme: str) -> None:
    """Roles, names, contrast, order of headings: what a machine can say of how others use a page."""
    found: set[tuple[str, ...]] = set()
    view = View(browser, sites[at], color_scheme=scheme)
    for path in EVERY_VIEW:
        page = view.go(path.replace("billing-invoices", "payments" if at else "billing-invoices"))
        page.locator(LOADED).first.wait_for()
        page.wait_for_timeout(300)
        found |= {(path, *each) for each in findings_of(page)}
    view.page.close()

    assert found == set()


def findings_of(page: Any) -> set[tuple[str, ...]]:
    """What axe finds: its rule, and the first elements."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    return {(each["id"], *(node["html"][:160] for node in each["nodes"][:3])) for each in found}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_login_is_usable_by_everybody(browser: Any, guarded: str, scheme: str) -> None:
    """With what was wrong, on a narrow screen, by keyboard alone; then the view that was asked for."""
    view = View(browser, guarded, color_scheme=scheme, viewport={"width": 360, "height": 800}, ignore_https_errors=True)
    page = view.go("/clients")
    page.get_by_label("User").wait_for()
    assert findings_of(page) == set()
    page.keyboard.type("alice")
    page.keyboard.press("Tab")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert findings_of(page) == set()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_label("User").fill("alice")
    page.get_by_label("Password").fill("alice's secret")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Clients").wait_for()
    assert findings_of(page) == set()
    page.get_by_role("button", name="log out").click()
    page.get_by_label("User").wait_for()
    page.close()


@pytest.mark.parametrize("path", EVERY_VIEW)
def test_every_view_is_reached_by_keyboard(view: View, path: str) -> None:
    """From the first link to the content, and each stop has a ring that is seen."""
    page = view.go(path)
    page.locator(LOADED).first.wait_for()
    stops = []
    for _ in range(14):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]"))

    assert {name for name, _ in stops} <= {"A", "BUTTON", "INPUT", "MAIN", "BODY"}
    assert all(style != "none" for name, style in stops if name != "BODY")


def test_a_printed_view_has_the_content_alone(view: View) -> None:
    page = view.go(GROUP)
    page.locator(".below .panel").first.wait_for()
    page.emulate_media(media="print")

    assert not page.locator("header.bar").is_visible()
    assert not page.locator(".toolbar").is_visible()
    assert page.locator(".timeline canvas").is_visible()
