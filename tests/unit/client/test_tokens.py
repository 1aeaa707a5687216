"""Tokens of a file and of an issuer: kept while they hold, renewed in time, and what is said when there is none."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordinator_server.client import AuthenticationFailed, ClientCredentials, ConnectionFailed, InvalidSettings, TokenFile
from coordinator_server.http_request import HttpFailed
from tests.support.token_issuer import TokenIssuer
from tests.support.tokens import token

TOKEN = token({"sub": "alice", "exp": 1000}, "ES256")


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Endpoint:
    """Answers with texts, one after the other, or fails; the last one stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: list[bytes | HttpFailed] = []
        self.asked = 0
        monkeypatch.setattr("coordinator_server.http_request.request", self.request)

    def request(self, *_: object, **__: object) -> bytes:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, HttpFailed):
            raise answer
        return answer


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    return Endpoint(monkeypatch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def credentials(clock: Clock) -> ClientCredentials:
    return ClientCredentials("https://login.example/token", "alice", "her secret", now_s=clock)


def answer(text: str, **more: object) -> bytes:
    return json.dumps({"access_token": text, **more}).encode()


def test_a_token_is_kept_for_four_fifths_of_its_time(endpoint: Endpoint, credentials: ClientCredentials, clock: Clock) -> None:
    endpoint.answers = [answer(TOKEN), answer(token({"exp": 2000}, "ES256"))]
    assert credentials.token() == TOKEN
    clock.now_s = 799
    assert (credentials.token(), endpoint.asked) == (TOKEN, 1)
    clock.now_s = 800

    assert credentials.token() != TOKEN
    assert endpoint.asked == 2


def test_a_token_is_used_until_it_ends_while_the_issuer_is_away(
    endpoint: Endpoint, credentials: ClientCredentials, clock: Clock
) -> None:
    endpoint.answers = [answer(TOKEN), HttpFailed("Connection refused")]
    credentials.token()
    clock.now_s = 999
    assert credentials.token() == TOKEN
    clock.now_s = 1000

    with pytest.raises(ConnectionFailed, match=r"no token of https://login\.example/token: Connection refused"):
        credentials.token()


def test_an_answer_may_say_how_long_a_token_holds(endpoint: Endpoint, credentials: ClientCredentials, clock: Clock) -> None:
    """Of a token that does not say it itself; without either it is used once."""
    endpoint.answers = [answer(token({}, "ES256"), expires_in=10), answer(token({}, "ES256"))]
    for now_s, asked in ((0, 1), (7.9, 1), (8, 2), (8, 3)):
        clock.now_s = now_s
        credentials.token()
        assert endpoint.asked == asked


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "has no token"),
        (b"[]", "has no token"),
        (b"{}", "has no token"),
        (b'{"access_token":7}', "has no token"),
        (b'{"access_token":"opaque"}', "no token of the form header.payload.signature"),
        (b'{"access_token":"a.b.c\\u0001d"}', "no token of the form"),
        (b"[" * 50_000, "has no token"),
    ],
)
def test_other_answers_are_no_tokens(endpoint: Endpoint, credentials: ClientCredentials, body: bytes, why: str) -> None:
    endpoint.answers = [body]

    with pytest.raises(AuthenticationFailed, match=why):
        credentials.token()


@pytest.mark.parametrize(("status", "kind"), [(401, AuthenticationFailed), (429, ConnectionFailed), (503, ConnectionFailed)])
def test_only_what_may_help_is_tried_again(
    endpoint: Endpoint, credentials: ClientCredentials, status: int, kind: type[Exception]
) -> None:
    endpoint.answers = [HttpFailed(f"the answer has status {status}", status)]

    with pytest.raises(kind):
        credentials.token()


@pytest.fixture(scope="module")
def issuer() -> Iterator[TokenIssuer]:
    with TokenIssuer() as started:
        yield started


def test_what_an_issuer_is_asked(issuer: TokenIssuer) -> None:
    """RFC 6749, 4.4: with name and secret in a header, and the scope in the form."""
    found = ClientCredentials(issuer.url("token"), "alice", "her secret", scope="read").token()

    assert found.count(".") == 2
    assert issuer.forms[-1] == {"grant_type": ["client_credentials"], "scope": ["read"]}
    with pytest.raises(AuthenticationFailed, match=r"status 401: .*no such client"):
        ClientCredentials(issuer.url("token"), "alice", "a guess").token()


def test_a_name_may_be_encoded_first(issuer: TokenIssuer) -> None:
    issuer.secrets["a%3Ab"] = "x%2By"

    assert ClientCredentials(issuer.url("token"), "a:b", "x+y", is_url_encoded=True).token()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ClientCredentials("file:///token", "a", "b"),
        lambda: ClientCredentials("https://", "a", "b"),
        lambda: ClientCredentials("https://a.example/", "", "b"),
        lambda: ClientCredentials("https://a.example/", "a", ""),
    ],
)
def test_wrong_settings_are_refused(make: Callable[[], ClientCredentials]) -> None:
    with pytest.raises(InvalidSettings):
        make()


def test_a_secret_is_not_shown(credentials: ClientCredentials) -> None:
    assert "her secret" not in repr(credentials)


def test_a_token_of_a_file_is_read_for_each_login(tmp_path: Path) -> None:
    path = tmp_path / "token"
    source = TokenFile(path)
    with pytest.raises(AuthenticationFailed, match="cannot be read: No such file"):
        source.token()
    path.write_text(f"{TOKEN}\n")
    assert source.token() == TOKEN
    path.write_text("a secret")
    with pytest.raises(AuthenticationFailed, match="has no token of the form") as refused:
        source.token()

    assert "a secret" not in str(refused.value)


def test_the_clock_is_that_of_the_wall() -> None:
    """Tokens end at a time of the wall's clock."""
    assert abs(ClientCredentials("https://a.example/", "a", "b").now_s() - time.time()) < 60
