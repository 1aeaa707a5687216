"""The exchange of OAUTHBEARER (RFC 7628), beside what tests/differential/test_tokens.py compares with a broker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.security.oauth.key_set import ALGORITHMS, read_key_set
from coordinator_server.security.oauth.key_source import KeySource, Pace
from coordinator_server.security.oauth.tokens import TokenRules
from coordinator_server.security.sasl.conversation import Conversation, Refused, Rejected, Undecided
from coordinator_server.security.sasl.oauthbearer import INVALID_TOKEN, InitialResponse, oauthbearer, parse_initial_response
from tests.support.tokens import initial_response, key_set, token

NOW_S = 1_800_000_000
RULES = TokenRules(ALGORITHMS, frozenset(), "", 30, "scope", "sub")
TOKEN = token({"sub": "alice", "iat": NOW_S, "exp": NOW_S + 60}, "ES256")


def conversation(*, has_keys: bool = True, wanted: list[str] | None = None) -> Conversation:
    source = KeySource(Pace(1000, 100, 1000, is_on_demand=True))
    source.begin()
    source.end(read_key_set(key_set("ES256")) if has_keys else None, 0, is_new=has_keys)
    begin, _ = oauthbearer(RULES, source, lambda: NOW_S * 1000, lambda: (wanted if wanted is not None else []).append("wanted"))
    return begin()


def test_the_parts_of_the_first_message() -> None:
    message = initial_response("a.b-c_~+/d==", "al=2Cice", host="x y", Port="9")

    assert parse_initial_response(message) == InitialResponse("a.b-c_~+/d==", "al=2Cice", {"host": "x y", "Port": "9"})
    assert parse_initial_response(b"n,,\x01auth=bEARER  x\x01\x01") == InitialResponse("x", "", {})


@pytest.mark.parametrize(
    "message",
    [
        b"", b"\x01", b"n", b"n,", b"n,,", b"n,,\x01", b"n,,\x01\x01", b"p,,\x01auth=Bearer x\x01\x01",
        b"n,b=x,\x01auth=Bearer x\x01\x01", b"n,a=,\x01auth=Bearer x\x01\x01", b"n,a=x=y,\x01auth=Bearer x\x01\x01",
        b"n,a=x,y,\x01auth=Bearer x\x01\x01", b"n,,\x01auth=Bearer x\x01", b"n,,\x01auth=Bearer x",
        b"n,,\x01auth=Bearer x\x01\x01\x01",
        b"n,,\x01\x01auth=Bearer x\x01\x01", b"n,,\x01auth=Bearer\x01\x01", b"n,,\x01auth=Bearer x y\x01\x01",
        b"n,,\x01Auth=Bearer x\x01\x01", b"n,,\x01auth=Bearer x\x01a1=x\x01\x01", b"n,,\x01auth=Bearer x\x01a=\x01\x01",
        b"n,,\x01auth=Bearer x\x01a=\xc3\xa9\x01\x01", b"n,a=\xff,\x01auth=Bearer x\x01\x01", b"n,,\x01auth=Basic x\x01\x01",
    ],
)  # fmt: skip
def test_other_messages_are_refused(message: bytes) -> None:
    with pytest.raises(Refused) as refused:
        conversation().answer(message)

    assert refused.value.message is None
    assert refused.value.why


@given(st.binary(max_size=80) | st.lists(st.sampled_from([b"n", b",", b"a=", b"\x01", b"auth=Bearer ", b"x"])).map(b"".join))
def test_any_bytes_are_a_message_or_are_refused(data: bytes) -> None:
    try:
        found = parse_initial_response(data)
    except Refused:
        return

    assert found.token


def test_a_token_proves_who_it_is_until_it_ends() -> None:
    talk = conversation()

    assert talk.answer(initial_response(TOKEN, "alice")) == b""
    assert (talk.user, talk.expires_ms, talk.credential) == ("alice", (NOW_S + 60) * 1000, None)


def test_a_token_that_is_not_valid_is_rejected() -> None:
    talk = conversation()
    with pytest.raises(Rejected) as rejected:
        talk.answer(initial_response(TOKEN[:-4]))

    assert (rejected.value.message, rejected.value.why) == (INVALID_TOKEN, "the signature is not that of the key 'ES256'")
    assert talk.user is None


def test_an_authorization_id_other_than_the_principal_is_refused() -> None:
    with pytest.raises(Refused, match=r"an authorization id \(bob\) that is different from the token's principal name \(alice\)"):
        conversation().answer(initial_response(TOKEN, "bob"))


def test_without_keys_nothing_is_decided() -> None:
    """And a fetch is asked for."""
    wanted: list[str] = []
    with pytest.raises(Undecided, match="the keys have not been fetched yet"):
        conversation(has_keys=False, wanted=wanted).answer(initial_response(TOKEN))

    assert wanted == ["wanted"]
