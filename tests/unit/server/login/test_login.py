"""What a peer gets before it is known, when it is, and when it is not any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.server.login.login import State
from protocol.error_codes import ErrorCode
from protocol.frames import encode_request
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.support.login_peer import (
    API_VERSIONS,
    AUTHENTICATE,
    BYTES,
    DELAY_MS,
    GUESS,
    HANDSHAKE,
    HEARTBEAT,
    REAL,
    SESSION_MS,
    TIMEOUT_MS,
    WAIT,
    Peer,
)


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


def test_a_lost_connection_ends_its_login(peer: Peer) -> None:
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
def test_an_early_or_needless_reauthentication_is_refused(peer: Peer, mechanism: str) -> None:
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
