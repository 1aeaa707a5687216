"""Which tokens are valid, beside what tests/differential/test_tokens.py compares with a broker: sizes, and why others are not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.security.oauth.key_set import ALGORITHMS, Key, read_key_set
from coordinator_server.security.oauth.tokens import LONGEST_HEADER, LONGEST_TOKEN, BadToken, Token, TokenRules, validated
from tests.support.tokens import encoded, key_set, token

NOW_S = 1_800_000_000
KEYS = read_key_set(key_set("ES256", "EdDSA"))
RULES = TokenRules(ALGORITHMS, frozenset(), "", 30, "scope", "sub")
GOOD = {"sub": "alice", "iat": NOW_S, "exp": NOW_S + 60}


def find(algorithm: str, key_id: str | None) -> Key:
    key = KEYS.find(algorithm, key_id)
    if key is None:
        raise BadToken("no key")
    return key


def judged(text: str, rules: TokenRules = RULES) -> Token:
    return validated(text, rules, find, NOW_S * 1000)


def signed(**other: Any) -> str:
    return token({**GOOD, **other}, "ES256")


@pytest.mark.parametrize("name", ["ES256", "EdDSA"])
def test_a_token_says_whose_it_is_and_when_it_ends(name: str) -> None:
    assert judged(token(GOOD, name)) == Token("alice", (NOW_S + 60) * 1000)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x" * (LONGEST_TOKEN + 1), f"a token of {LONGEST_TOKEN + 1} bytes"),
        (f"{'x' * (LONGEST_HEADER + 1)}.x.x", f"a header of {LONGEST_HEADER + 1} bytes"),
        ("a.b", "not header.payload.signature"),
        ("a.b.c", "the header is not base64url"),
        (f"{encoded('[')}.b.c", "the header is not JSON"),
        (f"{encoded('{}')}.b.c", "the algorithm none is not allowed"),
        (token(GOOD, "ES256", {"alg": "none"}), "the algorithm 'none' is not allowed"),
        (token(GOOD, "ES256", {"alg": "HS256"}), "the algorithm 'HS256' is not allowed"),
        (token(GOOD, "ES256", {"alg": ["ES256"]}), "the algorithm .* is not allowed"),
        (token(GOOD, "ES256", {"kid": ["ES256"]}), "the id of the key is not a text"),
        (token(GOOD, "ES256", {"crit": ["exp"]}), "extensions that must be understood"),
        (token(GOOD, "ES256", {"b64": False}), "the header has b64"),
        (token(GOOD, "ES256-other", {"kid": "ES256"}), "the signature is not that of the key 'ES256'"),
        (token(GOOD, "ES256", {"kid": "EdDSA"}), "no key"),
        (token("[" * 20_000, "ES256"), "the payload is nested too deeply|the payload is not JSON"),
        (token(b"\xff", "ES256"), "the payload is not UTF-8"),
        (token('{"exp":NaN}', "ES256"), "a number that JSON does not have"),
        (token('{"exp":1e999}', "ES256"), "exp is too large a number"),
        (token('{"exp":%s}' % ("9" * 4000), "ES256"), "exp is too large a number"),
        (token('{"exp":%s}' % ("9" * 9000), "ES256"), "the payload "),
        (token('{"sub":"a","sub":"b"}', "ES256"), "the payload has a name twice"),
        (signed(exp=NOW_S - 30), "expired 30 s ago"),
        (signed(nbf=NOW_S + 31), "valid only in 31 s"),
        (signed(iat=NOW_S + 61), "exp is before iat"),
        (signed(exp=None), "exp is not a number"),
        (token({"sub": "alice", "exp": NOW_S + 1}, "ES256"), "no iat"),
        (signed(aud="kafka"), "the audience is 'kafka'"),
        (signed(sub=None), "sub is not a text"),
        (signed(sub="\ud800"), "sub has half a character"),
        (signed(scope=["a", "a"]), "scope has one twice"),
    ],
)  # fmt: skip
def test_the_audit_log_says_why_a_token_is_not_valid(text: str, why: str) -> None:
    with pytest.raises(BadToken, match=why):
        judged(text)


@pytest.mark.parametrize(("exp", "nbf"), [(NOW_S - 29, None), (NOW_S + 60, NOW_S + 30)])
def test_clocks_may_differ_by_the_skew(exp: int, nbf: int | None) -> None:
    more = {} if nbf is None else {"nbf": nbf}

    assert judged(signed(exp=exp, iat=NOW_S - 100, **more)).expires_ms == exp * 1000


def test_only_the_algorithms_of_the_listener_are_taken() -> None:
    rules = RULES._replace(algorithms=frozenset({"RS256"}))

    with pytest.raises(BadToken, match="the algorithm 'ES256' is not allowed"):
        judged(signed(), rules)


def test_an_issuer_and_one_of_the_audiences_may_be_required() -> None:
    rules = RULES._replace(issuer="me", audiences=frozenset({"a", "b"}))

    assert judged(signed(iss="me", aud=["x", "b"]), rules).subject == "alice"
    for other in ({"iss": "you", "aud": "a"}, {"aud": "a"}, {"iss": "me"}, {"iss": "me", "aud": []}, {"iss": "me", "aud": "x"}):
        with pytest.raises(BadToken, match=r"issuer|audience"):
            judged(signed(**other), rules)


def test_claims_are_not_read_before_the_signature_is_right() -> None:
    """What a stranger writes there costs nothing."""
    head, _, signature = signed().split(".")

    with pytest.raises(BadToken, match="the signature"):
        judged(f"{head}.{encoded('[' * 9000)}.{signature}")


@given(
    st.text(max_size=200) | st.builds(".".join, st.lists(st.text(max_size=60) | st.text(max_size=20).map(encoded), max_size=4))
)
def test_any_text_is_a_token_or_is_bad(text: str) -> None:
    with pytest.raises(BadToken):
        judged(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["sub", "iat", "exp", "nbf", "iss", "aud", "jti", "scope"])


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_any_claims_are_a_token_or_are_bad(other: dict[str, Any]) -> None:
    try:
        found = judged(signed(**other))
    except BadToken:
        return

    assert found.subject == str(other.get("sub", "alice")).strip("".join(map(chr, range(33))))
