"""The keys of a loop: fetched by its timers in its thread, kept when that fails, and fetched again on SIGHUP."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.config import ConfigError
from coordinator_server.config.load import load
from coordinator_server.http_request import HttpFailed
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.security.sasl.conversation import Rejected, Undecided
from coordinator_server.server.login.key_sets import KeyServices, KeySets
from coordinator_server.server.wire.background import Background
from tests.support.certificates import Authority
from tests.support.clock import ManualClock
from tests.support.log import ManualWorker
from tests.support.tokens import initial_response, key_set, token

URL = "https://login.example/keys"
SECOND_MS, REFRESH_MS = 1_000, 3_600_000


class Issuer:
    """Has keys at URLs, and can be away."""

    def __init__(self) -> None:
        self.keys: dict[str, bytes] = {}
        self.asked: list[str] = []

    def request(self, url: str, *_: object, **__: object) -> bytes:
        self.asked.append(url)
        if url not in self.keys:
            raise HttpFailed("Connection refused")
        return self.keys[url]


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Issuer:
    made = Issuer()
    monkeypatch.setattr("coordinator_server.security.oauth.fetching.request", made.request)
    return made


class Loop:
    """A loop with listeners A and B."""

    def __init__(self) -> None:
        self.clock, self.queue, self.worker = ManualClock(), TimerQueue(), ManualWorker()
        self.reports: list[tuple[str, Mapping[str, Any]]] = []
        background = Background(self.worker, lambda run: run())
        timers = ShardTimers(self.queue, self.clock, _fire)
        report = lambda name, **fields: self.reports.append((name, fields))  # noqa: E731 - with the services that have it
        self.sets = KeySets(KeyServices(background, timers, self.clock, report))
        self.begin: Any = None

    def use(self, url: str = URL, listener: str = "A", *, is_taken: bool = True, **settings: str) -> None:
        named = {f"sasl.oauthbearer.{name.replace('_', '.')}": value for name, value in settings.items()}
        config = load({"sasl.oauthbearer.jwks.endpoint.url": url, **named})
        begin, _ = self.sets.open(config, listener, {})
        self.sets.settle(listener, is_taken=is_taken)
        if is_taken:
            self.begin = begin

    def advance(self, ms: int = 0) -> None:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())
        while self.worker.jobs:
            self.worker.step()
        self.queue.run(self.clock.now_ms())

    def login(self, name: str = "ES256") -> str:
        now_s = self.clock.wall_ms() // 1000
        talk = self.begin()
        try:
            talk.answer(initial_response(token({"sub": "alice", "iat": now_s, "exp": now_s + 60}, name)))
        except Rejected:
            return "rejected"
        except Undecided:
            return "undecided"
        return str(talk.user)


def _fire(timer: Timer) -> None:
    timer.operation()


@pytest.fixture
def loop() -> Loop:
    return Loop()


def test_keys_of_a_url_are_fetched_beside_the_loop(loop: Loop, issuer: Issuer) -> None:
    issuer.keys[URL] = key_set("ES256")
    loop.use()
    assert (loop.login(), issuer.asked) == ("undecided", [])
    loop.advance()

    assert (loop.login(), loop.login("ES384")) == ("alice", "undecided")


def test_a_new_key_is_fetched_when_a_token_has_it(loop: Loop, issuer: Issuer) -> None:
    issuer.keys[URL] = key_set("ES256")
    loop.use()
    loop.advance()
    issuer.keys[URL] = key_set("ES384")
    assert loop.login("ES384") == "undecided"
    loop.advance(100)

    assert loop.login("ES384") == "alice"
    assert loop.login("ES256") == "undecided"
    loop.advance(100)
    assert (loop.login("ES256"), len(issuer.asked)) == ("rejected", 3)


def test_keys_stay_while_the_issuer_is_away(loop: Loop, issuer: Issuer) -> None:
    issuer.keys[URL] = key_set("ES256")
    loop.use()
    loop.advance()
    for answer in (None, b"<html>"):
        issuer.keys.clear() if answer is None else issuer.keys.update({URL: answer})
        loop.advance(REFRESH_MS)
        assert loop.login() == "alice"
        loop.advance(100)

    assert {name for name, _ in loop.reports} == {"keys-not-fetched"}
    whys = [fields["why"] for _, fields in loop.reports]
    assert (whys[0], whys[-1]) == ("Connection refused", "is not JSON")
    assert {fields["action"] for _, fields in loop.reports} == {"old keys stay in use"}


def test_an_issuer_that_is_away_at_the_start_is_asked_again(loop: Loop, issuer: Issuer) -> None:
    loop.use()
    loop.advance()
    assert loop.reports[0][1]["action"] == "clients are closed until there are keys"
    issuer.keys[URL] = key_set("ES256")
    loop.advance(100)

    assert loop.login() == "alice"


def test_a_change_of_a_file_counts_within_a_second(loop: Loop, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(key_set("ES256"))
    loop.use(path.as_uri())
    assert loop.login() == "alice"
    path.write_bytes(key_set("ES384", "EdDSA"))
    loop.advance(SECOND_MS)
    assert (loop.login(), loop.login("ES384")) == ("rejected", "alice")

    path.write_bytes(b"{")
    loop.advance(SECOND_MS)
    assert (loop.login("ES384"), [fields["why"] for _, fields in loop.reports]) == ("alice", ["is not JSON"])


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"jwks_endpoint_url": ""}, "A: sasl.oauthbearer.jwks.endpoint.url is required with OAUTHBEARER"),
        ({"jwks_endpoint_url": "keys.json"}, "jwks.endpoint.url=keys.json takes a URL that begins with"),
        ({"jwks_endpoint_url": "file:///no/such"}, "url=file:///no/such cannot be read: No such file or directory"),
        ({"algorithms": "HS256"}, "algorithms=HS256: takes one or more of ES256"),
        ({"algorithms": " , "}, "takes one or more of"),
        ({"jwt_validator_class": "Mine"}, "class=Mine: takes .*; classes of one's own are not supported"),
        ({"jwks_endpoint_retry_backoff_ms": "20000"}, "backoff.ms=20000 must not be greater than .*=10000"),
    ],
)
def test_wrong_properties_are_refused(loop: Loop, issuer: Issuer, settings: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        loop.use(**({"jwks_endpoint_url": URL} | settings))  # type: ignore[arg-type]


def test_listeners_with_the_same_place_share_its_keys(loop: Loop, issuer: Issuer) -> None:
    issuer.keys[URL] = key_set("ES256")
    for listener in ("A", "B"):
        loop.use(listener=listener, expected_issuer=listener)
    loop.advance()

    assert issuer.asked == [URL]


def test_sighup_fetches_again_and_leaves_what_is_not_used(loop: Loop, issuer: Issuer) -> None:
    other = f"{URL}/2"
    issuer.keys = {URL: key_set("ES256"), other: key_set("ES384")}
    loop.use()
    loop.use(listener="B")
    loop.advance()
    loop.use(other, "B")
    loop.use(listener="A")
    loop.sets.refresh()
    loop.advance(100)
    assert issuer.asked == [URL, other, URL]
    loop.use(other)
    loop.sets.refresh()
    loop.advance(REFRESH_MS)

    assert issuer.asked[3:] == [other]
    assert loop.login("ES384") == "alice"


def test_a_refused_configuration_keeps_the_key_sets(loop: Loop, issuer: Issuer) -> None:
    """Its listener has other properties that are wrong."""
    issuer.keys[URL] = key_set("ES256")
    loop.use()
    loop.advance()
    loop.use(f"{URL}/2", is_taken=False)
    loop.sets.refresh()
    loop.advance(REFRESH_MS)

    assert set(issuer.asked) == {URL}
    assert loop.login() == "alice"


def test_a_reload_with_a_wrong_truststore_keeps_the_former_one(loop: Loop, issuer: Issuer, tmp_path: Path) -> None:
    store = tmp_path / "trusted.pem"
    store.write_text(Authority().pem)
    config = load({"sasl.oauthbearer.jwks.endpoint.url": URL})
    issuer.keys[URL] = key_set("ES256")
    opened = partial(loop.sets.open, config, "A", {"ssl.truststore.location": str(store), "unrelated": "x"})
    loop.begin, _ = opened()
    loop.sets.settle("A", is_taken=True)
    loop.advance()
    store.write_text("nothing")
    with pytest.raises(ConfigError, match=r"ssl\.truststore\.location"):
        opened()
    loop.sets.settle("A", is_taken=False)
    loop.sets.refresh()
    loop.advance(100)

    assert (loop.login(), len(issuer.asked)) == ("alice", 2)
