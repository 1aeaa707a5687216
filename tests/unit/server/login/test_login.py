"""What a peer gets before it is known, when it is, and when it is not any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.timers import ShardTimers, Timer, TimerQueue
from coordinator_server.security.sasl.conversation import Refused
from coordinator_server.security.sasl.mechanisms import Mechanism
from coordinator_server.security.sasl.plain import plain
from coordinator_server.security.sasl.scram import ScramUsers, Strangers, scram
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.apis.sasl import SASL_AUTHENTICATE_API, SASL_HANDSHAKE_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.login.login import BEFORE_LOGIN, Login, SaslServices, State
from coordinator_server.server.wire.connection import Limits
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.cluster_metadata import UserScramCredentialRecord
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.clock import ManualClock
from tests.support.turns import ManualLoop

API_VERSIONS, HANDSHAKE, AUTHENTICATE, HEARTBEAT = 18, 17, 36, 12
TIMEOUT_MS, DELAY_MS, SESSION_MS, BYTES = 10_000, 100, 60_000, 1 << 12
WAIT, GUESS = b"wait", b"guess"


class Word:
    """A conversation: a token is the user, WAIT (and another token comes), or GUESS."""

    expires_ms: int | None = None

    def __init__(self) -> None:
        self.user: str | None = None
        self.claimed = ""
        self.credential: str | None = None

    def answer(self, token: bytes, /) -> bytes:
        if token == WAIT:
            return b"go on"
        if token.startswith(GUESS):
            self.claimed = "guesser"
            raise Refused("no" if self.claimed == "" else None)
        self.user = self.credential = self.claimed = token.decode()
        return b"welcome"


class Token(Word):
    """Its proof ends."""

    expires_ms = ManualClock().wall_ms() + 5_000


def has_none(_user: str) -> bool:
    return False


WORDS = {
    "WORD": Mechanism(Word, has_none, 0),
    "SHORT": Mechanism(Word, has_none, SESSION_MS),
    "TOKEN": Mechanism(Token, has_none, SESSION_MS),
}


class Nobody:
    """No user has a credential."""

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        return None


REAL = {
    "PLAIN": Mechanism(*plain({"user_alice": "never drawn"}), 0),
    "SCRAM-SHA-256": Mechanism(*scram(ScramMechanism.SCRAM_SHA_256, ScramUsers(Nobody(), Strangers(b"key", [4096]))), 0),
}


class Noted:
    """The logins of a loop: who is in."""

    def __init__(self) -> None:
        self.users: list[Any] = []

    def note(self, _connection: object, key: Any) -> None:
        self.users.append(key)

    def forget(self, _connection: object, key: Any) -> None:
        if key in self.users:
            self.users.remove(key)


class Peer:
    """A connection to a listener with the mechanisms WORD (no session), SHORT (a session) and TOKEN."""

    def __init__(
        self, delay_ms: int = DELAY_MS, mechanisms: Mapping[str, Mechanism] | None = None, max_bytes: int = BYTES
    ) -> None:
        self.clock, self.queue, self.loop = ManualClock(), TimerQueue(), ManualLoop()
        self.contexts: list[RequestContext] = []
        self.failures: list[tuple[str, dict[str, str]]] = []
        self.logins = Noted()
        nobody: Any = None
        logins: Any = self.logins
        rows = [API_VERSIONS_API, SASL_HANDSHAKE_API, SASL_AUTHENTICATE_API]
        apis = [serve_row(row, partial(row.handle, nobody)) for row in rows]  # type: ignore[attr-defined, arg-type]
        every = [*apis, serve_row(HEARTBEAT_API, self._beat)]
        known = Dispatcher(every, self.loop.background, has_provenance=True)
        services = self.services = SaslServices(
            "SASL",
            mechanisms or WORDS,
            logins,
            ShardTimers(self.queue, self.clock, _fire),
            self.clock,
            Dispatcher([each for each in every if each.key in BEFORE_LOGIN], self.loop.background),
            lambda: known,
            lambda host, **why: self.failures.append((host, why)),
            TIMEOUT_MS,
            delay_ms,
            max_bytes,
            1 << 20,
        )
        self.connection, self.transport = self.loop.connect(known, Limits(1 << 20, 1000))
        self.login = Login(services)
        self.login.begin(self.connection)
        self.reports: list[str] = []
        self.connection.report = lambda name, **_fields: self.reports.append(name)

    def _beat(self, context: RequestContext, request: Any, reply: Exchange[Any]) -> None:
        self.contexts.append(context)
        reply.complete(HeartbeatResponse())

    def send(self, key: int, version: int, request: Any) -> None:
        self.receive(encode_request(key, version, 7, "client", request))

    def receive(self, data: bytes) -> None:
        self.connection.data_received(data)
        self.loop.work()

    def ask(self, key: int, version: int, request: Any) -> Any:
        self.send(key, version, request)
        return self.answer(key, version)

    def answer(self, key: int, version: int) -> Any:
        [frame] = self.frames()
        return decode_response(key, version, frame)[1]

    def frames(self) -> list[bytes]:
        data, self.transport.writes[:] = b"".join(self.transport.writes), []
        return FrameSplitter(1 << 20).feed(data) if data else []

    def shake(self, mechanism: str = "WORD", version: int = 1) -> Any:
        return self.ask(HANDSHAKE, version, SaslHandshakeRequest(mechanism))

    def say(self, token: bytes, version: int = 2) -> Any:
        return self.ask(AUTHENTICATE, version, SaslAuthenticateRequest(token))

    @property
    def is_closed(self) -> bool:
        return bool(self.transport.is_closed)

    def beat(self) -> bool:
        """Whether a heartbeat is answered; if not, the connection is closed."""
        self.send(HEARTBEAT, 4, HeartbeatRequest("group", 1, "member"))
        is_answered = bool(self.frames())
        assert is_answered != self.transport.is_closed
        return is_answered

    def advance(self, ms: int) -> None:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())
        self.loop.work()


def _fire(timer: Timer) -> None:
    timer.operation()


@pytest.fixture
def peer() -> Peer:
    return Peer()


def test_a_client_that_is_known_is_served_as_its_user(peer: Peer) -> None:
    versions = peer.ask(API_VERSIONS, 4, ApiVersionsRequest("tests", "1"))
    assert versions.error_code == ErrorCode.NONE

    shaken = peer.shake()
    assert (shaken.error_code, shaken.mechanisms) == (ErrorCode.NONE, ["WORD", "SHORT", "TOKEN"])
    first = peer.say(WAIT)
    assert (first.error_code, first.auth_bytes, first.session_lifetime_ms) == (ErrorCode.NONE, b"go on", 0)
    assert peer.connection.principal == "User:ANONYMOUS"
    last = peer.say(b"alice")
    assert (last.error_code, last.auth_bytes, last.session_lifetime_ms) == (ErrorCode.NONE, b"welcome", 0)
    assert peer.beat()
    assert [(each.principal, each.origin is not None) for each in peer.contexts] == [("User:alice", True)]
    assert (peer.logins.users, peer.failures) == (["alice"], [])
    peer.advance(10 * SESSION_MS)
    assert peer.beat()


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [lambda peer: peer.ask(API_VERSIONS, 4, ApiVersionsRequest("tests", "1"))],
        [Peer.shake],
        [Peer.shake, lambda peer: peer.say(WAIT)],
    ],
)
def test_no_other_request_is_served_before(peer: Peer, steps: list[Callable[[Peer], Any]]) -> None:
    for step in steps:
        step(peer)

    assert not peer.beat()
    assert peer.contexts == []


def test_api_versions_is_answered_once_before_a_login(peer: Peer) -> None:
    """As in Kafka; a version that is not known does not count, because the client asks again."""
    newer = encode_request(API_VERSIONS, 4, 7, "client", ApiVersionsRequest("tests", "1")).replace(
        b"\0\x12\0\4", b"\0\x12\0\x63", 1
    )
    peer.receive(newer)
    assert peer.answer(API_VERSIONS, 0).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert peer.ask(API_VERSIONS, 3, ApiVersionsRequest("tests", "1")).error_code == ErrorCode.NONE

    peer.send(API_VERSIONS, 3, ApiVersionsRequest("tests", "1"))
    assert (peer.frames(), peer.is_closed) == ([], True)


@pytest.mark.parametrize(
    "data", [b"\0\0\x20\0", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01\x02\0", b"\0\0\0\0", b"\0\0\0\1x", b"\x60" * 9]
)
def test_bytes_that_are_no_request_close(peer: Peer, data: bytes) -> None:
    """Frames are small before the login."""
    peer.receive(data)

    assert peer.is_closed
    assert peer.connection.unhandled_bytes() < BYTES


def test_a_silent_unauthenticated_connection_is_closed(peer: Peer) -> None:
    """Whatever it said before."""
    peer.shake()
    peer.advance(TIMEOUT_MS - 1)
    peer.say(WAIT)
    states = [peer.is_closed]
    peer.advance(1)

    assert [*states, peer.is_closed] == [False, True]
    assert peer.reports == ["login-timed-out"]


def test_a_slow_handshake_of_tls_does_not_outlast_the_deadline(peer: Peer) -> None:
    """Nothing can be closed before there is a transport."""
    peer.connection._transport = None
    peer.advance(TIMEOUT_MS)
    peer.connection.connection_made(peer.transport)
    assert peer.reports == []
    peer.advance(TIMEOUT_MS)

    assert peer.is_closed
    assert peer.reports == ["login-timed-out"]


def test_a_failed_login_is_answered_after_a_delay(peer: Peer) -> None:
    """And what the peer sends meanwhile is not run."""
    peer.shake()
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(GUESS))
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(b"alice"))
    assert (peer.frames(), peer.is_closed, peer.transport.is_reading_paused) == ([], False, True)
    peer.advance(DELAY_MS)

    answer = peer.answer(AUTHENTICATE, 2)
    assert (answer.error_code, answer.auth_bytes) == (ErrorCode.SASL_AUTHENTICATION_FAILED, b"")
    assert (
        answer.error_message == "Authentication failed during authentication due to invalid credentials with SASL mechanism WORD"
    )
    assert peer.is_closed
    assert peer.connection.principal == "User:ANONYMOUS"
    assert peer.failures == [
        ("192.0.2.1", {"listener": "SASL", "mechanism": "WORD", "user": "guesser", "why": answer.error_message})
    ]
    assert peer.logins.users == []


def test_a_large_guess_is_answered_too() -> None:
    """A token of more than 32 KiB is a large request, which is decoded in the thread."""
    peer = Peer(max_bytes=1 << 17)
    peer.shake()
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(GUESS + bytes(1 << 16)))
    peer.advance(DELAY_MS)

    assert peer.answer(AUTHENTICATE, 2).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert peer.is_closed


def test_an_unknown_mechanism_is_refused_with_those_that_there_are(peer: Peer) -> None:
    peer.send(HANDSHAKE, 1, SaslHandshakeRequest("GSSAPI"))
    peer.advance(DELAY_MS)

    answer = peer.answer(HANDSHAKE, 1)
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["WORD", "SHORT", "TOKEN"])
    assert peer.is_closed


def test_a_second_handshake_is_refused(peer: Peer) -> None:
    peer.shake()
    peer.send(HANDSHAKE, 1, SaslHandshakeRequest("WORD"))
    peer.advance(DELAY_MS)

    assert peer.answer(HANDSHAKE, 1).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert peer.is_closed


def test_a_peer_that_goes_leaves_nothing(peer: Peer) -> None:
    peer.shake("SHORT")
    peer.say(b"alice")
    peer.connection.connection_lost(None)
    peer.advance(10 * SESSION_MS)

    assert (peer.logins.users, peer.login.state) == ([], State.DONE)


def test_bare_tokens_follow_a_handshake_of_version_0(peer: Peer) -> None:
    peer.shake(version=0)
    peer.receive(b"\0\0\0\4" + WAIT)
    assert peer.frames() == [b"go on"]
    peer.receive(b"\0\0\0\5alice")
    assert peer.frames() == [b"welcome"]

    assert peer.beat()
    assert peer.contexts[0].principal == "User:alice"


def test_a_bare_guess_is_closed_without_an_answer(peer: Peer) -> None:
    peer.shake(version=0)
    peer.receive(b"\0\0\0\5" + GUESS)
    peer.advance(DELAY_MS - 1)
    states = [peer.is_closed]
    peer.advance(1)

    assert (peer.frames(), [*states, peer.is_closed], len(peer.failures)) == ([], [False, True], 1)


def test_requests_that_follow_at_once_are_served(peer: Peer) -> None:
    """They arrived with the last token, and are run as the user's."""
    peer.shake()
    token = encode_request(AUTHENTICATE, 2, 7, "client", SaslAuthenticateRequest(b"alice"))
    peer.receive(token + encode_request(HEARTBEAT, 4, 8, "client", HeartbeatRequest("group", 1, "member")))

    assert len(peer.frames()) == 2
    assert [each.principal for each in peer.contexts] == ["User:alice"]


def test_a_session_ends_with_the_next_request(peer: Peer) -> None:
    """Unless the client authenticates again (KIP-368), in time or late."""
    peer.shake("SHORT")
    assert peer.say(b"alice").session_lifetime_ms == SESSION_MS
    peer.advance(SESSION_MS - 1)
    assert peer.beat()
    peer.shake("SHORT")
    assert peer.say(b"alice").session_lifetime_ms == SESSION_MS
    peer.advance(SESSION_MS)
    assert peer.login.state is State.EXPIRED
    peer.shake("SHORT")
    peer.say(b"alice")
    assert peer.beat()
    assert peer.logins.users == ["alice"]

    peer.advance(SESSION_MS)
    assert not peer.beat()


def test_a_session_ends_with_its_proof(peer: Peer) -> None:
    peer.shake("TOKEN")

    assert peer.say(b"alice").session_lifetime_ms == 5_000
    peer.advance(5_000)
    assert not peer.beat()


def test_nobody_becomes_another_user(peer: Peer) -> None:
    peer.shake("SHORT")
    peer.say(b"alice")
    peer.shake("SHORT")
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(b"bob"))
    peer.advance(DELAY_MS)

    answer = peer.answer(AUTHENTICATE, 2)
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        "Cannot change principals during re-authentication from User.alice: User.bob",
    )
    assert peer.is_closed
    assert peer.contexts == []


def test_a_client_is_a_stranger_until_it_is_known_for_the_first_time(peer: Peer) -> None:
    """What it sends later, also to prove again who it is, is not a stranger's."""
    found = [peer.connection.is_stranger]
    peer.shake("SHORT")
    found.append(peer.connection.is_stranger)
    peer.say(b"alice")
    found.append(peer.connection.is_stranger)
    peer.clock.advance(SESSION_MS)
    peer.queue.run(peer.clock.now_ms())
    found.append(peer.connection.is_stranger)
    peer.shake("SHORT")
    found.append(peer.connection.is_stranger)

    assert found == [True, True, False, False, False]


def test_a_mechanism_is_not_changed(peer: Peer) -> None:
    peer.shake("SHORT")
    peer.say(b"alice")
    peer.shake("WORD")
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(b"alice"))
    peer.advance(DELAY_MS)

    assert (peer.frames(), peer.is_closed) == ([], True)
    assert peer.failures[0][1]["why"] == "re-authentication with WORD in place of SHORT"


@pytest.mark.parametrize("mechanism", ["WORD", "SHORT"])
def test_who_need_not_or_has_just_begun_is_refused(peer: Peer, mechanism: str) -> None:
    """The connection goes on."""
    peer.shake(mechanism)
    peer.say(b"alice")
    if mechanism == "SHORT":
        peer.shake(mechanism)
        peer.say(b"alice")

    assert peer.shake(mechanism).error_code == ErrorCode.ILLEGAL_SASL_STATE
    answer = peer.say(b"alice")
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.ILLEGAL_SASL_STATE,
        "SaslAuthenticate request received after successful authentication",
    )
    assert peer.beat()


def test_what_was_known_of_earlier_requests_is_forgotten(peer: Peer) -> None:
    """The context of a request has its principal."""
    peer.ask(API_VERSIONS, 4, ApiVersionsRequest("tests", "1"))
    peer.shake()
    assert peer.connection.introduced
    peer.say(b"alice")

    assert peer.connection.introduced == {}


def test_without_sasl_both_requests_are_refused(peer: Peer) -> None:
    peer.connection.login = None
    peer.connection.dispatch_with(peer.services.after(), BYTES)

    assert peer.shake().error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert peer.say(b"alice").error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert peer.beat()


VALID = [
    encode_request(API_VERSIONS, 3, 7, "client", ApiVersionsRequest("tests", "1")),
    *(encode_request(HANDSHAKE, version, 7, "client", SaslHandshakeRequest(name)) for version in (0, 1) for name in REAL),
    *(
        encode_request(AUTHENTICATE, version, 7, "client", SaslAuthenticateRequest(token))
        for version in (0, 1, 2)
        for token in (b"\0alice\0guess", b"n,,n=alice,r=nonce", b"c=biws,r=nonce,p=cHJvb2Y=", b"")
    ),
    b"\0\0\0\x0d\0alice\0guess",
    encode_request(HEARTBEAT, 4, 7, "client", HeartbeatRequest("group", 1, "member")),
]


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """A request of a login, with some of its bytes changed, cut off or repeated."""
    frame = bytearray(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(0, 3))):
        frame[draw(st.integers(0, len(frame) - 1))] = draw(st.integers(0, 255))
    return bytes(frame[: draw(st.integers(0, len(frame)))] if draw(st.booleans()) else frame)


@given(st.lists(frames() | st.binary(max_size=20), max_size=8), st.integers(1, 64))
def test_whatever_strangers_send_nothing_is_served(sent: list[bytes], size: int) -> None:
    """In pieces of any size: it is answered or closed, is never more than a small request in memory, and ends in time."""
    peer = Peer(mechanisms=REAL)
    data = b"".join(sent)
    for start in range(0, len(data), size):
        if not peer.is_closed:
            peer.receive(data[start : start + size])
            assert peer.connection.unhandled_bytes() <= BYTES + size
        peer.advance(1)

    peer.advance(TIMEOUT_MS + DELAY_MS)
    assert peer.is_closed
    assert (peer.contexts, peer.logins.users, peer.connection.principal) == ([], [], "User:ANONYMOUS")


def test_a_failed_login_without_a_delay() -> None:
    peer = Peer(delay_ms=0)
    peer.shake()
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(GUESS))
    peer.advance(0)

    assert peer.answer(AUTHENTICATE, 2).error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert peer.is_closed
