"""The validation of an access token (RFC 7519), with the rules of Kafka's ``BrokerJwtValidator`` and of jose4j below it.

The order bounds the work for a stranger: sizes, the header, the algorithm, the key, the signature. Only then the claims are read,
which a trusted issuer has signed.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import Error as BadBase64
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from coordinator_server.security.oauth.key_set import Key
from coordinator_server.security.oauth.strict_json import object_of

LONGEST_TOKEN: Final = 1 << 15
"""Characters. A principal in it is short enough for the strings of records and answers."""
LONGEST_HEADER: Final = 1 << 12
_PARTS: Final = 3
_LATEST_S: Final = 1 << 42
_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
_VERIFIER: Final = PyJWS()


class BadToken(Exception):
    """The token is not valid. The message is for the audit log."""


class TokenRules(NamedTuple):
    """What a listener asks of a token. Without ``audiences`` a token for an audience is refused; without ``issuer`` any may be."""

    algorithms: frozenset[str]
    audiences: frozenset[str]
    issuer: str
    skew_s: int
    scope_claim: str
    sub_claim: str


class Token(NamedTuple):
    """What a valid token says: whose it is, and when it ends, in milliseconds since the epoch."""

    subject: str
    expires_ms: int


FindKey = Callable[[str, str | None], Key]
"""Returns the key for an algorithm and the id of a key, or raises."""


def validated(text: str, rules: TokenRules, find: FindKey, now_ms: int) -> Token:
    """Return what a token says. Raises BadToken, and what ``find`` raises."""
    if len(text) > LONGEST_TOKEN:
        raise BadToken(f"a token of {len(text)} bytes, and {LONGEST_TOKEN} are allowed")
    parts = text.split(".")
    if len(parts) != _PARTS or not all(parts):
        raise BadToken("not header.payload.signature")
    algorithm, key_id = _header(parts[0], rules)
    key = find(algorithm, key_id)
    try:
        payload = _VERIFIER.decode_complete(text, key.public, [algorithm])["payload"]
    except (PyJWTError, ValueError, TypeError):
        raise BadToken(f"the signature is not that of the key {_shown(key_id)}") from None
    try:
        claims = object_of(payload)
    except ValueError as bad:
        raise BadToken(f"the payload {bad}") from None
    return _checked(claims, rules, now_ms // 1000)


def _header(segment: str, rules: TokenRules) -> tuple[str, str | None]:
    """Return the algorithm and the id of the key."""
    if len(segment) > LONGEST_HEADER:
        raise BadToken(f"a header of {len(segment)} bytes, and {LONGEST_HEADER} are allowed")
    try:
        header = object_of(urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    except BadBase64:
        raise BadToken("the header is not base64url") from None
    except ValueError as bad:
        raise BadToken(f"the header {bad}") from None
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in rules.algorithms:
        raise BadToken(f"the algorithm {_shown(algorithm)} is not allowed")
    if key_id is not None and not isinstance(key_id, str):
        raise BadToken("the id of the key is not a text")
    if "crit" in header:
        raise BadToken("the header has extensions that must be understood")
    if "b64" in header:
        raise BadToken("the header has b64")
    return algorithm, key_id


def _checked(claims: dict[str, Any], rules: TokenRules, now_s: int) -> Token:
    """Return what claims say that hold now."""
    expires_s, issued_s = _seconds(claims, "exp"), _seconds(claims, "iat")
    begins_s = _seconds(claims, "nbf") if "nbf" in claims else None
    if now_s - rules.skew_s >= expires_s:
        raise BadToken(f"expired {now_s - expires_s} s ago")
    if expires_s < issued_s:
        raise BadToken("exp is before iat")
    if begins_s is not None:
        if expires_s < begins_s:
            raise BadToken("exp is before nbf")
        if now_s + rules.skew_s < begins_s:
            raise BadToken(f"valid only in {begins_s - now_s} s")
    for name in ("iss", "sub", "jti"):
        if not isinstance(claims.get(name, ""), str):
            raise BadToken(f"{name} is not a text")
    if rules.issuer and claims.get("iss") != rules.issuer:
        raise BadToken(f"the issuer is {_shown(claims.get('iss'))}")
    _check_audience(claims, rules)
    _check_scope(claims.get(rules.scope_claim), rules.scope_claim)
    if expires_s < 0 or issued_s < 0:
        raise BadToken("a negative time")
    subject = _text(claims.get(rules.sub_claim), rules.sub_claim)
    if not _is_utf8(subject):
        raise BadToken(f"{rules.sub_claim} has half a character")
    return Token(subject, expires_s * 1000)


def _seconds(claims: dict[str, Any], name: str) -> int:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadToken(f"{name} is not a number" if name in claims else f"no {name}")
    if abs(value) > _LATEST_S:
        raise BadToken(f"{name} is too large a number")
    return int(value)


def _check_audience(claims: dict[str, Any], rules: TokenRules) -> None:
    given = claims.get("aud")
    if given is None:
        if rules.audiences:
            raise BadToken("no audience")
        return
    audiences = [given] if isinstance(given, str) else given
    if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
        raise BadToken("aud is not a text or a list of texts")
    if rules.audiences.isdisjoint(audiences):
        raise BadToken(f"the audience is {_shown(given)}")


def _check_scope(scope: Any, name: str) -> None:
    scopes = [_text(each, name) for each in ([scope] if isinstance(scope, str) else scope if isinstance(scope, list) else [])]
    if len(set(scopes)) != len(scopes):
        raise BadToken(f"{name} has one twice")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise BadToken(f"no {name}" if value is None else f"{name} is not a text")
    text = value.strip(_JAVA_BLANKS)
    if not text:
        raise BadToken(f"{name} is empty")
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: Any) -> str:
    return "none" if value is None else repr(value)[:80]
