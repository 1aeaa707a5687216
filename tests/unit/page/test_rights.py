"""Who has logged in sees what the cluster lets be described, on every route; nobody else sees anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.client.errors import AuthenticationFailed, ConnectionFailed
from coordinator_server.client.settings import ConnectionSettings, Sasl
from coordinator_server.ops.hosts import Hosts
from coordinator_server.page import app as served
from coordinator_server.page import door as doors
from coordinator_server.page.answers import ANSWERS, Answers
from coordinator_server.page.app import VIEWS, page_app
from coordinator_server.page.board import Board
from coordinator_server.page.door import COOKIE, IDLE_S, LONGEST_S, NAMES_S, REFRESH_S, Door, LoginFailed
from coordinator_server.page.rights import EVERYTHING, Rights
from coordinator_server.page.summary import Words
from coordinator_server.page.updater import Updater
from tests.support.asgi import Answer, request
from tests.support.page_log import Story, write_stories
from tests.unit.page.test_app import QUERIES

ALICE = Rights(frozenset({"billing", "mixed", "none"}), frozenset({"orders"}), frozenset(), has_cluster=False)
FOREIGN = ("secret", "payroll", "mixed", "spy", "retired")
"""Groups, topics and clients that Alice may not see: mixed consumes payroll, too; retired was deleted."""
OF_THE_CLUSTER = {name for name, query in QUERIES.items() if not query}


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Cluster:
    """A cluster that knows Alice by SCRAM-SHA-256, and an operator by PLAIN."""

    rights: ClassVar[dict[str, Rights]] = {"alice": ALICE, "operator": EVERYTHING}
    secrets: ClassVar[dict[tuple[str, str], str]] = {("alice", "a's secret"): "SCRAM-SHA-256", ("operator", "o's"): "PLAIN"}
    tried: ClassVar[list[str]] = []
    is_down = False

    def __init__(self, settings: ConnectionSettings) -> None:
        assert isinstance(settings.sasl, Sasl)
        self.sasl = settings.sasl
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


async def rights_of(cluster: Cluster, topics: object) -> Rights:
    Cluster.tried.append(cluster.sasl.mechanism)
    if Cluster.is_down:
        raise ConnectionFailed("10.0.0.7:9092 does not answer")
    if Cluster.secrets.get((cluster.sasl.username, cluster.sasl.password)) != cluster.sasl.mechanism:
        raise AuthenticationFailed("no")
    return Cluster.rights[cluster.sasl.username]


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "Cluster", Cluster)
    monkeypatch.setattr(doors, "rights_of", rights_of)
    monkeypatch.setattr(doors, "_FAILED_S", 0)
    monkeypatch.setattr(Cluster, "tried", [])


class Site:
    def __init__(self, data: Path, where: str = "10.0.0.7:9092") -> None:
        self.clock = Clock()
        self.board = Board()
        self.updater = Updater(data, self.board, Words(event_sentence, event_cause, reason_words))
        self.updater.round()
        self.topics = {"orders", "payroll"}
        self.door = Door(lambda: ConnectionSettings(where), lambda: self.topics, self.clock)
        self.app = page_app(Answers(data, self.updater), self.board, self.updater, Hosts("0.0.0.0", ["page.example"]), self.door)

    async def ask(self, address: str, cookie: str = "") -> Answer:
        return await request(self.app, address, host="page.example", cookie=cookie)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mixed = Story("mixed").join("m").commit()
    mixed.topic = "payroll"
    told = [
        Story("billing", partitions=3).join("b").commit(times=5).join("c").leave(0),
        Story("secret", "payroll").join("spy").commit(),
        mixed.commit(),
        Story("retired").join("r").leave().delete(),
    ]
    return write_stories(tmp_path_factory.mktemp("site"), told)[0]


@pytest.fixture
def site(data: Path) -> Site:
    return Site(data)


async def logged_in(site: Site, user: str = "alice", password: str = "a's secret") -> str:
    return f"other=1; {COOKIE}={await site.door.login(user, password)}"


# --- every route


def test_each_route_has_its_test(site: Site) -> None:
    """One that is added is in none of these tables: each has tests for all that is in it. Files are for everybody."""
    routes = {each.path for each in site.app._app.routes}  # type: ignore[attr-defined]
    answers = {f"/api/{name}" for name in (*QUERIES, "status", "viewer")}

    assert {each for each in routes if not each.startswith("/static/")} == answers | {*VIEWS} | {"/login", "/logout"}


@pytest.mark.parametrize("name", [*ANSWERS, "status", "viewer"])
async def test_without_a_login_there_is_no_answer(site: Site, name: str) -> None:
    found = await site.ask(f"/api/{name}?{QUERIES.get(name, '')}", f"{COOKIE}=guessed")

    assert (found.status, found.json) == (401, {"error": "log in first"})


@pytest.mark.parametrize("path", VIEWS)
async def test_a_view_leads_to_the_login_and_back(site: Site, path: str) -> None:
    found = await site.ask(f"{path}?id=a&at=5")

    assert found.status == 303
    assert parse_qs(urlsplit(found.headers["location"]).query) == {"to": [f"{path}?id=a&at=5"]}
    assert (await site.ask(path, await logged_in(site))).status == 200


@pytest.mark.parametrize("name", sorted(ANSWERS.keys() - OF_THE_CLUSTER))
@pytest.mark.parametrize("group", ["secret", "mixed", "retired"])
async def test_a_foreign_group_is_not_there(site: Site, name: str, group: str) -> None:
    """It is like one that does not exist; of lists it is no part."""
    cookie = await logged_in(site)
    found = await site.ask(f"/api/{name}?{QUERIES[name].replace('billing', group)}", cookie)
    missing = await site.ask(f"/api/{name}?{QUERIES[name].replace('billing', 'none')}", cookie)

    assert found.status == missing.status
    assert found.body.replace(group.encode(), b"none") == missing.body
    assert found.status == 404 or "id=" not in QUERIES[name]


@pytest.mark.parametrize("name", sorted(ANSWERS.keys() - OF_THE_CLUSTER))
async def test_what_is_seen_names_nothing_foreign(site: Site, name: str) -> None:
    found = await site.ask(f"/api/{name}?{QUERIES[name].replace('q=bill', 'q=')}", await logged_in(site))

    assert found.status == 200
    assert not [each for each in FOREIGN if each in found.body.decode()]


@pytest.mark.parametrize("name", sorted(OF_THE_CLUSTER))
async def test_the_log_is_for_those_who_may_describe_the_cluster(data: Path, name: str) -> None:
    site = Site(data, "127.0.0.1:9092")

    assert (await site.ask(f"/api/{name}", await logged_in(site))).status == 404
    assert (await site.ask(f"/api/{name}", await logged_in(site, "operator", "o's"))).status == 200


async def test_counts_are_of_what_is_seen(site: Site) -> None:
    found = (await site.ask("/api/groups?q=state:any", await logged_in(site))).json

    assert ([each["group"] for each in found["rows"]], found["groups"], found["matching"]) == (["billing"], 1, 1)
    assert sum(found["states"].values()) == 1


async def test_the_status_names_no_foreign_group_and_no_file(site: Site) -> None:
    site.board.attach(asyncio.get_running_loop())
    cookie = await logged_in(site)

    async def viewer() -> doors.Viewer:
        found = await site.door.viewer(cookie)
        if found is None:
            raise served.NotLoggedIn
        return found

    told: AsyncIterator[bytes] = served.status_lines(site.board, site.updater, viewer)
    await anext(told)
    site.board.publish(changed=["billing", "secret"], problem="/var/lib/coordinator-server is full")
    found = await anext(told)
    assert b'"changed":["billing"]' in found
    assert b"secret" not in found
    assert b"/var/lib" not in found
    assert b"cannot be read" in found
    site.door.logout(cookie)
    site.board.publish(changed=["billing"])
    assert [each async for each in told] == []


# --- logins


async def test_a_login_tries_what_the_user_may_have_and_sends_no_password_in_the_open(site: Site, data: Path) -> None:
    await logged_in(site)
    assert Cluster.tried == ["SCRAM-SHA-512", "SCRAM-SHA-256"]
    with pytest.raises(LoginFailed, match="the user or the password is wrong"):
        await site.door.login("operator", "o's")
    assert Cluster.tried[2:] == ["SCRAM-SHA-512", "SCRAM-SHA-256"]
    assert await Site(data, "127.0.0.1:9092").door.login("operator", "o's")


async def test_the_form_gives_a_cookie_that_scripts_and_other_pages_do_not_have(site: Site) -> None:
    form = b"user=alice&password=a%27s+secret&to=%2Fgroup%3Fid%3Dbilling"
    found = await request(site.app, "/login", "POST", form, host="page.example")

    assert (found.status, found.headers["location"]) == (303, "/group?id=billing")
    kept = [each.strip().lower() for each in found.headers["set-cookie"].split(";")]
    assert kept[0].startswith("__host-page=")
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= set(kept)
    assert "strict-transport-security" in found.headers
    assert (await site.ask("/api/groups", found.headers["set-cookie"].split(";")[0])).status == 200


async def test_a_wrong_password_says_so_on_the_form(site: Site) -> None:
    found = await request(site.app, "/login", "POST", b"user=alice&password=x&to=//evil.example/", host="page.example")

    query = parse_qs(urlsplit(found.headers["location"]).query)
    assert (found.status, query) == (303, {"why": ["the user or the password is wrong"], "to": ["/"]})
    assert "set-cookie" not in found.headers
    assert (await site.ask("/login")).status == 200


@pytest.mark.parametrize(
    "to", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "", "/login", "/\n/x"]
)
async def test_a_login_leads_nowhere_else(site: Site, to: str) -> None:
    form = urlencode({"user": "alice", "password": "a's secret", "to": to}).encode()
    found = await request(site.app, "/login", "POST", form, host="page.example")

    assert (found.status, found.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/login", {"sec_fetch_site": "cross-site"}, 403),
        ("/logout", {"sec_fetch_site": "same-site"}, 403),
        ("/login", {"host": "evil.example"}, 403),
        ("/api/groups", {}, 405),
    ],
)
async def test_forms_of_other_pages_are_refused(site: Site, path: str, headers: dict[str, str], status: int) -> None:
    form = b"user=alice&password=a%27s+secret"

    assert (await request(site.app, path, "POST", form, **({"host": "page.example"} | headers))).status == status


async def test_a_form_has_a_bound(site: Site) -> None:
    assert (await request(site.app, "/login", "POST", b"x" * 9000, host="page.example")).status == 413


async def test_the_end_of_a_session(site: Site) -> None:
    """A logout, half an hour of nothing, or half a day."""
    out = await logged_in(site)
    assert (await request(site.app, "/logout", "POST", b"", host="page.example", cookie=out)).status == 303
    idle, old = await logged_in(site), await logged_in(site)
    while site.clock.now_s < LONGEST_S:
        site.clock.now_s += IDLE_S - 1
        assert (await site.door.viewer(old) is not None) == (site.clock.now_s < LONGEST_S)

    assert [await site.door.viewer(each) for each in (out, idle, old)] == [None] * 3


async def test_what_is_revoked_is_gone_and_what_cannot_be_asked_is_not_shown(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = await logged_in(site)
    first = await site.door.viewer(cookie)
    site.clock.now_s += REFRESH_S + 1
    again = await site.door.viewer(cookie)
    assert first is not None
    assert again is not None
    assert again.rights is first.rights, "answers are kept by it"
    monkeypatch.setitem(Cluster.rights, "alice", ALICE._replace(groups=frozenset()))
    assert (await site.ask("/api/group?id=billing", cookie)).status == 200
    site.clock.now_s += REFRESH_S + 1
    assert (await site.ask("/api/group?id=billing", cookie)).status == 404
    monkeypatch.setattr(Cluster, "is_down", True)
    site.clock.now_s += REFRESH_S + 1
    down = await site.ask("/api/group?id=billing", cookie)
    assert (down.status, down.json) == (503, {"error": "the cluster does not say now what you may see"})
    monkeypatch.setattr(Cluster, "is_down", False)
    monkeypatch.setattr(Cluster, "secrets", {})
    assert (await site.ask("/api/group?id=billing", cookie)).status == 401


async def test_a_topic_that_comes_is_asked_about_soon(site: Site) -> None:
    """The group of somebody who logs in while the log is still being read."""
    site.topics = set()
    cookie = await logged_in(site)
    Cluster.tried.clear()
    site.clock.now_s += NAMES_S
    await site.door.viewer(cookie)
    assert not Cluster.tried
    site.topics = {"orders"}
    site.clock.now_s += NAMES_S
    for _ in range(3):
        await site.door.viewer(cookie)

    assert len(Cluster.tried) == 1


async def test_sessions_and_logins_have_bounds(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_SESSIONS", 2)
    found = []
    for _ in range(3):
        site.clock.now_s += 1
        found.append(await logged_in(site))

    assert [await site.door.viewer(each) is not None for each in found] == [False, True, True]
    monkeypatch.setattr(doors, "_MOST_LOGINS", 0)
    with pytest.raises(LoginFailed, match="try again"):
        await logged_in(site)


async def test_a_cluster_that_does_not_answer_is_said_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "is_down", True)

    with pytest.raises(LoginFailed, match="the cluster does not answer"):
        await site.door.login("alice", "a's secret")
