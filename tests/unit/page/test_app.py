"""The routes: who is answered, what a browser is told, and what the answers are."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from starlette.types import ASGIApp

from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.ops.hosts import Hosts
from coordinator_server.page import answers as made
from coordinator_server.page import app as served
from coordinator_server.page.answers import ANSWERS, Answers, BadRequest
from coordinator_server.page.app import VIEWS, page_app
from coordinator_server.page.board import Board
from coordinator_server.page.door import Viewer
from coordinator_server.page.files import STATIC
from coordinator_server.page.rights import Rights
from coordinator_server.page.summary import Words
from coordinator_server.page.updater import Updater
from tests.support.asgi import request
from tests.support.page_log import Story, write_stories

HOSTILE = "<script>alert(1)</script>\u202e\x00'\"&"


class Site:
    """A page without a socket, and without the thread that updates it."""

    def __init__(self, data: Path) -> None:
        self.board = Board()
        self.updater = Updater(data, self.board, Words(event_sentence, event_cause, reason_words))
        self.updater.round()
        self.answers = Answers(data, self.updater)
        self.app: ASGIApp = page_app(self.answers, self.board, self.updater, Hosts("127.0.0.1", ["proxy.example"]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    told = [Story("billing", partitions=3).join("b").commit(times=5).join("c").leave(0), Story(HOSTILE).join(HOSTILE).commit()]
    return Site(write_stories(tmp_path_factory.mktemp("site"), told)[0])


QUERIES = {
    "groups": "q=bill&sort=members&desc=1",
    "group": "id=billing",
    "pace": "id=billing",
    "trend": "id=billing&from=1764000000000&to=1764000030000",
    "picture": "id=billing&columns=50",
    "events": "id=billing&limit=5",
    "moment": "id=billing&at=1764000000500",
    "difference": "id=billing&from=1764000000500&to=1764000030000",
    "what-if": "id=billing&static=1",
    "clients": "q=",
    "topics": "q=",
    "transactions": "of=all",
    "shares": "of=all",
    "log": "",
    "doctor": "",
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_answer_is_json_that_only_this_page_may_read(site: Site, name: str) -> None:
    found = await request(site.app, f"/api/{name}?{QUERIES[name]}")

    assert (found.status, found.headers["content-type"]) == (200, "application/json")
    assert found.json
    assert found.headers["cache-control"] == "no-store"
    assert found.headers["cross-origin-resource-policy"] == "same-origin"
    assert found.headers["x-content-type-options"] == "nosniff"


async def test_a_browser_runs_nothing_but_files_of_the_page(site: Site) -> None:
    """No script, style or connection from elsewhere, and none in the text of a view but the one whose hash is allowed."""
    found = await request(site.app, "/")
    policy = dict(each.strip().split(" ", 1) for each in found.headers["content-security-policy"].split(";"))

    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert {policy[each] for each in ("style-src", "connect-src")} == {"'self'"}
    [early] = re.findall(rb"<script>(.*?)</script>", found.body, re.DOTALL)
    assert policy["script-src"] == f"'self' 'sha256-{base64.b64encode(hashlib.sha256(early).digest()).decode()}'"
    assert early == (STATIC / "early.js").read_bytes()
    assert not re.search(rb"<style|<script(?! src|[^>]* src=)|\bon\w+=|https?://", found.body.replace(b"<script>" + early, b""))


@pytest.mark.parametrize("path", VIEWS)
async def test_each_view_has_an_address(site: Site, path: str) -> None:
    found = await request(site.app, path)

    assert (found.status, found.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for address in re.findall(r'(?:src|href)="([^"]+)"', found.body.decode()):
        assert (await request(site.app, address)).status == 200


async def test_a_file_that_is_known_is_not_sent_again(site: Site) -> None:
    first = await request(site.app, "/static/page.css")
    again = await request(site.app, "/static/page.css", if_none_match=first.headers["etag"])

    assert (first.status, first.headers["cache-control"]) == (200, "no-cache")
    assert (again.status, again.body) == (304, b"")


async def test_a_view_loads_all_of_its_files_at_once_and_only_once(site: Site) -> None:
    """All modules are one script, and a browser that has the files of a version keeps them."""
    view = (await request(site.app, "/")).body.decode()
    [stored] = set(re.findall(r'"(/static/[0-9a-f]{16}/)', view))

    assert re.findall(r'(?:src|href)="(/static/(?![0-9a-f]{16}/)[^"]*)', view) == []
    assert re.findall(r'<script src="([^"]+)"', view) == [f"{stored}page.js"]
    found = await request(site.app, f"{stored}page.js")
    assert (found.status, found.headers["cache-control"]) == (200, "max-age=31536000, immutable")
    # In lower case, Chromium would compile all of it anew in each tab.
    assert found.headers["content-type"] == "text/javascript; charset=UTF-8"


@pytest.mark.parametrize(
    ("cookie", "attributes"),
    [
        ("", ""),
        ("page-theme=dark", ' data-theme="dark"'),
        ("other=1; page-zone=utc; page-theme=light", ' data-theme="light" data-zone="utc"'),
        ('page-theme="><script>', ""),
        ("page-theme=pink; page-zone=local", ' data-zone="local"'),
    ],
)
async def test_a_document_has_what_its_viewer_has_chosen(site: Site, cookie: str, attributes: str) -> None:
    """From the start, so that nothing is drawn twice; and nothing else."""
    found = await request(site.app, "/", cookie=cookie)

    assert f'<html{attributes} lang="en">'.encode() in found.body
    assert (await request(site.app, "/", if_none_match=found.headers["etag"], cookie=cookie)).status == 304


def test_the_views_of_the_browser_are_those_of_the_server() -> None:
    listed = re.findall(r'^  "(/[^"]*)": [A-Z]', (STATIC / "app.js").read_text(), re.MULTILINE)

    assert tuple(listed) == VIEWS


async def test_the_list_has_what_it_shows_and_a_group_all_of_it(site: Site) -> None:
    row = (await request(site.app, "/api/groups?q=billing")).json["rows"][0]
    one = (await request(site.app, "/api/group?id=billing")).json

    assert one.keys() - row.keys() == {"protocol", "epoch", "clients", "hosts", "waits"}
    assert one.items() >= row.items()


async def test_an_answer_says_of_which_version_it_is(site: Site) -> None:
    """A browser that hears of that version afterwards has it already."""
    found = await request(site.app, "/api/groups")

    assert found.headers["page-version"] == str(site.board.status.version) != "0"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/api/none", "/x"])
async def test_there_is_nothing_else(site: Site, path: str) -> None:
    assert (await request(site.app, path)).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_no_request_changes_anything(site: Site, method: str) -> None:
    found = await request(site.app, "/api/groups", method)

    assert (found.status, found.json) == (405, {"error": "the page changes nothing: it answers GET and HEAD"})


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9405", 200),
        ("localhost", 200),
        ("[::1]:9405", 200),
        ("proxy.example", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/groups", "/static/page.css"])
async def test_other_names_are_not_answered(site: Site, host: str, status: int, path: str) -> None:
    """A page elsewhere whose name resolves to this machine gets nothing (DNS rebinding)."""
    found = await request(site.app, path, host=host)

    assert found.status == status
    assert "content-security-policy" in found.headers


async def test_names_of_clients_are_text(site: Site) -> None:
    """They are in JSON and nowhere else; what a browser makes of them is up to static/."""
    listed = await request(site.app, "/api/groups?q=script")
    found = await request(site.app, f"/api/picture?id={quote(HOSTILE)}")

    assert [each["group"] for each in listed.json["rows"]] == [HOSTILE]
    assert found.json["owners"][0]["client_id"] == HOSTILE


@pytest.mark.parametrize(
    ("address", "status", "why"),
    [
        ("group", 400, "id is missing"),
        ("group?id=none", 404, "the index has no group none"),
        ("picture?id=none", 404, "the index has no group none"),
        ("moment?id=billing", 400, "at= is no whole number"),
        ("moment?id=billing&at=soon", 400, "at=soon is no whole number"),
        ("moment?id=billing&at=99999999999999999999", 400, "at=99999999999999999999 is too large"),
        ("picture?id=billing&from=5&to=4", 400, "from is after to"),
        ("groups?sort=hosts", 400, "groups are sorted by group, type"),
        ("groups?first=x", 400, "first=x is no whole number"),
        (f"groups?q={'x' * 9000}", 414, "the address is too long"),
    ],
)
async def test_what_is_wrong_is_said(site: Site, address: str, status: int, why: str) -> None:
    found = await request(site.app, f"/api/{address}")

    assert found.status == status
    assert why in found.json["error"]


async def test_a_directory_that_was_never_read_says_so(tmp_path: Path) -> None:
    data, _ = write_stories(tmp_path, [Story("a").join("x")])
    board = Board()
    updater = Updater(data, board, Words(event_sentence, event_cause, reason_words))
    app = page_app(Answers(data, updater), board, updater, Hosts("127.0.0.1", []))

    assert (await request(app, "/api/groups")).json == {"rows": [], "matching": 0, "groups": 0, "states": {}}
    found = await request(app, "/api/picture?id=a")
    assert (found.status, found.json) == (503, {"error": "nothing has been read yet: it begins with the first viewer"})


# --- answers are made once


def test_those_that_ask_for_the_same_share_one_answer(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty viewers cost what one does."""
    begun, go_on, calls = threading.Event(), threading.Event(), []

    def slow(_: Answers, query: Any, _rights: Rights) -> Any:
        calls.append(query)
        begun.set()
        assert go_on.wait(30)
        return {"n": len(calls)}

    monkeypatch.setitem(cast(dict[str, Any], made.ANSWERS), "group", slow)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(site.answers.get("group", {"id": "shared"}))) for _ in range(5)]
    for each in threads:
        each.start()
    assert begun.wait(30)
    go_on.set()
    for each in threads:
        each.join(30)

    assert found == [b'{"n":1}'] * 5
    assert site.answers.get("group", {"id": "shared"}) == b'{"n":1}'
    site.board.status = replace(site.board.status, version=site.board.status.version + 1)
    assert site.answers.get("group", {"id": "shared"}) == b'{"n":2}'


def test_an_error_is_for_all_that_wait_and_is_not_kept(site: Site) -> None:
    for _ in range(2):
        with pytest.raises(BadRequest):
            site.answers.get("group", {})


def test_the_answers_that_are_kept_have_a_bound(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST_KEPT_BYTES", 400)
    for at in range(20):
        site.answers.get("moment", {"id": "billing", "at": str(1764000000000 + at)})

    assert sum(map(len, site.answers._kept.values())) <= 400


# --- status


async def everybody() -> Viewer:
    return served.EVERYBODY


async def lines(board: Board, updater: Updater) -> AsyncIterator[bytes]:
    async for each in served.status_lines(board, updater, everybody):
        yield each


async def test_the_status_is_told_at_once_and_when_it_changes(site: Site) -> None:
    site.board.attach(asyncio.get_running_loop())
    told = lines(site.board, site.updater)

    assert await anext(told) == b"retry: 2000\n\n"
    first = json.loads((await anext(told)).removeprefix(b"data: "))
    assert first["problem"] == ""
    site.board.publish(problem="the disk is full")
    assert json.loads((await anext(told)).removeprefix(b"data: "))["problem"] == "the disk is full"
    assert site.board.viewers == 1
    await told.aclose()  # type: ignore[attr-defined]  # it is a generator
    site.board.publish(problem="")


async def test_a_status_that_stays_keeps_the_connection(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "ALIVE_S", 0.0)
    site.board.attach(asyncio.get_running_loop())
    told = lines(site.board, site.updater)
    found = [await anext(told) for _ in range(3)]

    assert found[2] == b": nothing new\n\n"
    await told.aclose()  # type: ignore[attr-defined]  # it is a generator


async def test_only_so_many_get_the_status(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.board, "viewers", served.MOST_VIEWERS)

    assert (await request(site.app, "/api/status")).status == 503


# --- what is not ours


def test_vendored_files_are_those_of_their_packages() -> None:
    """vendor.json says from which version of which package each is, and its hash; each has its licence beside it."""
    vendor = STATIC / "vendor"
    listed = {each["file"]: each for each in json.loads((vendor / "vendor.json").read_text())}

    assert {path.name for path in vendor.iterdir()} == listed.keys() | {
        "vendor.json",
        "LICENSE-htm.txt",
        "LICENSE-preact.txt",
        "LICENSE-uplot.txt",
    }
    for name, each in listed.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == each["sha256"]
        assert each["version"] in name
