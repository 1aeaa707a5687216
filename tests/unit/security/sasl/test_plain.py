"""PLAIN: one token, with Kafka's answers to wrong ones."""

from __future__ import annotations

import pytest

from coordinator_server.security.sasl.conversation import Refused
from coordinator_server.security.sasl.plain import plain

PLAIN, HAS_USER = plain({"user_alice": "secret", "user_": "nameless", "user_bob": "pässword", "username": "x", "password": "y"})


@pytest.mark.parametrize(
    ("token", "user"), [(b"\0alice\0secret", "alice"), (b"alice\0alice\0secret", "alice"), ("\0bob\0pässword".encode(), "bob")]
)
def test_plain_accepts_the_right_password(token: bytes, user: str) -> None:
    conversation = PLAIN()

    assert (conversation.answer(token), conversation.user, conversation.expires_ms, conversation.credential) == (
        b"",
        user,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        (b"", "expected 3 tokens, got 1"),
        (b"alice\0secret", "expected 3 tokens, got 2"),
        (b"\0" * 100, "expected 3 tokens, got 4"),
        (b"\0\0nameless", "username not specified"),
        (b"\0alice\0", "password not specified"),
        (b"\0alice\0Secret", "Invalid username or password"),
        (b"\0alice\0secret ", "Invalid username or password"),
        (b"\0x\0y", "Invalid username or password"),
        (b"\0\xff\0\xff", "Invalid username or password"),
        (b"bob\0alice\0secret", "authorization id that is different"),
    ],
)
def test_plain_refuses_other_messages(token: bytes, problem: str) -> None:
    conversation = PLAIN()
    with pytest.raises(Refused, match=problem):
        conversation.answer(token)

    assert conversation.user is None


def test_a_password_that_is_no_utf_8_keeps_no_other_user_out() -> None:
    """The environment of a process may have such bytes, which Python reads as surrogates. No client can send it."""
    begin, has_user = plain({"user_ann": "p\udce9", "user_bob": "secret"})

    assert has_user("ann")
    with pytest.raises(Refused, match="Invalid username or password"):
        begin().answer(b"\0ann\0p\xe9")
    assert begin().answer(b"\0bob\0secret") == b""


def test_users_are_those_of_the_options() -> None:
    assert [name for name in ("alice", "bob", "carol", "username", "user_alice") if HAS_USER(name)] == ["alice", "bob"]
