"""Mechanisms that reject with an answer, or cannot decide: what the peer gets, and what is noted."""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from tests.support.login_peer import AUTHENTICATE, BAD, DELAY_MS, LATER, Peer


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.mark.parametrize("last", [b"\x01", b"alice", BAD, LATER])
def test_a_rejection_is_answered_and_then_refused(peer: Peer, last: bytes) -> None:
    """Whatever the client says to it (RFC 7628). It is one failure."""
    peer.shake()
    first = peer.say(BAD)
    assert (first.error_code, first.auth_bytes, first.session_lifetime_ms) == (ErrorCode.NONE, b'{"status":"bad"}', 0)
    peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(last))
    assert (peer.frames(), peer.is_closed) == ([], False)
    peer.advance(DELAY_MS)

    answer = peer.answer(AUTHENTICATE, 2)
    assert (answer.error_code, answer.error_message, answer.auth_bytes) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        '{"status":"bad"}',
        b"",
    )
    assert (peer.is_closed, peer.logins.users) == (True, [])
    assert [each["why"] for _, each in peer.failures] == ["it is bad"]


def test_a_bare_rejection_is_answered_and_then_closed(peer: Peer) -> None:
    peer.shake(version=0)
    peer.receive(b"\0\0\0\3" + BAD)
    assert peer.frames() == [b'{"status":"bad"}']
    peer.receive(b"\0\0\0\1\1")
    peer.advance(DELAY_MS)

    assert (peer.frames(), peer.is_closed, len(peer.failures)) == ([], True, 1)


@pytest.mark.parametrize("version", [0, 1])
def test_an_undecided_client_is_closed_without_an_answer(peer: Peer, version: int) -> None:
    """It comes again; one that is refused would not."""
    peer.shake(version=version)
    if version:
        peer.send(AUTHENTICATE, 2, SaslAuthenticateRequest(LATER))
    else:
        peer.receive(b"\0\0\0\5" + LATER)
    peer.advance(DELAY_MS)

    assert (peer.frames(), peer.is_closed) == ([], True)
    assert [each["why"] for _, each in peer.failures] == ["nobody knows yet"]
