"""What of the page is measured in Chromium: from the start of a navigation or the press of a key to what is drawn.

What is drawn is seen by the page itself: the rows that fill a screen, all hundred of them, or the picture are there, and the frame
that has them has been laid out and painted by the main thread. A navigation begins in a tab that shows nothing, and has the start
of a process in it. Warm is a browser with a profile that has opened the page before, as an operator's: it keeps compiled code,
which a private window does not. Cold is one that has nothing of it. An empty document with the same style sheet, and two words, is
what no page can be faster than: it is measured in turns with the warm views.

Beside each time stands the processor that the main thread of the document has had, in the median: all of it, and what of it were
scripts, and style and layout. Of an opened view it is that of its first second, with what comes after the first picture. Other load
of the machine changes it much less than the time.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from coordinator_server.page.files import STATIC

ROUNDS: Final = 15
SCREEN: Final = 24
"""The rows that fill a window of 900 pixels (static/groups.js)."""

_VISITS: Final = 3
"""After so many visits a browser has the compiled code of a script, and uses it."""
_WINDOW: Final[Any] = {"width": 1440, "height": 900}
_EMPTY: Final = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Nothing</title>
<link rel="stylesheet" href="/page.css"><link rel="icon" href="data:,"></head><body><main><h1>Two words</h1></main></body></html>"""

# Whoever waits for it is called in the rendering of a frame: the message comes when that has been laid out and painted.
_PAINTED: Final = """const painted = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => done(performance.now());
    port1.postMessage(null);
});"""
# It is in the document from the start: to ask from outside costs the document ten milliseconds. To look in each frame would cost it
# frames that nobody needs.
_DRAWN: Final = f"""window.drawn = new Promise((done) => {{ {_PAINTED}
    const look = () => {{
        if (!document.querySelector("%s")) return;
        watcher.disconnect();
        requestAnimationFrame(() => painted().then(done));
    }};
    const watcher = new MutationObserver(look);
    watcher.observe(document, {{ childList: true, subtree: true }});
}})"""
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


class Browsers(NamedTuple):
    """A browser whose windows know nothing, one with a profile, and the address of an empty document."""

    new: Any
    known: Any
    empty: str

    def close(self) -> None:
        """Close both."""
        self.known.close()
        self.new.close()


def in_browser(address: str, group: str | None) -> None:
    """Measure the list, or a group at an address of the page, and print what was found."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    chosen: dict[str, Any] = {"executable_path": program, "args": ["--no-sandbox"]}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile, _empty_document() as empty:
        known = playwright.chromium.launch_persistent_context(profile, viewport=_WINDOW, **chosen)
        browsers = Browsers(playwright.chromium.launch(**chosen), known, empty)
        (_list if group is None else _group)(browsers, address, group or "/")
        browsers.close()


@contextmanager
def _empty_document() -> Iterator[str]:
    """Serve a document that has the style sheet of the page, and little else: return its address."""
    sheet = (STATIC / "page.css").read_bytes()
    files = {
        "/": ("text/html; charset=utf-8", "no-cache", _EMPTY),
        "/page.css": ("text/css; charset=utf-8", "max-age=31536000", sheet),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            kind, cache, body = files[self.path]
            # The last one is as that of the page, so that a visit is a process of its own.
            headers = {"Content-Type": kind, "Cache-Control": cache, "Cross-Origin-Opener-Policy": "same-origin"}
            self.send_response(200)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _list(browsers: Browsers, address: str, path: str) -> None:
    _opened(browsers, "the first list", address + path, f".groups tbody tr:nth-child({SCREEN})").close()
    page = _opened(browsers, "all hundred rows", address + path, f".groups tbody + tbody tr:nth-child({100 - SCREEN})")
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


def _group(browsers: Browsers, address: str, path: str) -> None:
    page = _opened(browsers, "the group", address + path, ".timeline canvas")
    page.locator(".frame:not(.old)").wait_for()
    _say("zoom: the next picture", [_took(page, partial(page.evaluate, _ZOOMED, key)) for key in "+++---+,."])
    frames = page.evaluate(FRAMES)
    print(f"{'in Chromium: the slider':42} {frames:7.1f} frames a second", flush=True)


def _opened(browsers: Browsers, what: str, address: str, selector: str) -> Any:
    """Open a view in cold browsers, then in a warm one in turns with an empty document. Return the warm one's page."""
    cold: list[Took] = []
    for _ in range(ROUNDS):
        page = _page(browsers.new.new_context(viewport=_WINDOW), selector)
        cold.append(_drawn(page, address))
        page.context.close()
    _say(f"{what}, cold", cold)
    empty, page = _page(browsers.known, "main"), _page(browsers.known, selector)
    for _ in range(_VISITS):
        _drawn(page, address)
    found = [(_drawn(page, address), _drawn(empty, browsers.empty)) for _ in range(ROUNDS)]
    empty.close()
    _say(f"{what}, warm", [each for each, _ in found])
    _say("an empty document, in turns", [each for _, each in found])
    return page


def _page(context: Any, selector: str) -> Any:
    found = context.new_page()
    found.add_init_script(_DRAWN % selector)
    return found


class Took(NamedTuple):
    """What was drawn after so long, and how much processor of the main thread went into it, all in ms."""

    ms: float
    tasks_ms: float
    scripts_ms: float
    layout_ms: float


def _drawn(page: Any, address: str) -> Took:
    page.bring_to_front()
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
