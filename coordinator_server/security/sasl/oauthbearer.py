"""OAUTHBEARER (RFC 7628): the client shows a signed token. The exchange is that of Kafka's ``OAuthBearerSaslServer``.

    n,a=NAME,^Aauth=Bearer TOKEN^AEXTENSION=VALUE^A^A    ──►    nothing: the client is known
                                                              {"status":"invalid_token"}, and the client answers ^A: refused

The name before the token is empty or that of the token. Extensions are read and have no effect, as in Kafka.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from coordinator_server.security.oauth.key_source import KeysNotKnown, KeySource
from coordinator_server.security.oauth.tokens import BadToken, TokenRules, validated
from coordinator_server.security.sasl.conversation import Begin, HasUser, Refused, Rejected, Undecided

INVALID_TOKEN: Final = '{"status":"invalid_token"}'
_SEPARATOR: Final = "\x01"
_NAME: Final = re.compile(r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+")
_PAIR: Final = re.compile(r"([A-Za-z]+)=([\x21-\x7e \t\r\n]+)")
_TOKEN: Final = re.compile(r"(\w+) +([-_~+/.a-zA-Z0-9]+=*)", re.ASCII)
_AUTH: Final = "auth"


class InitialResponse(NamedTuple):
    """What a client sends first. ``authorization_id`` may be empty."""

    token: str
    authorization_id: str
    extensions: dict[str, str]


def parse_initial_response(data: bytes) -> InitialResponse:
    """Return the parts of the client's first message. Raises Refused."""
    # A byte that is not ASCII becomes a character that is allowed nowhere.
    text = data.decode("ascii", errors="replace")
    header, separator, rest = text.partition(f",{_SEPARATOR}")
    flag, comma, name = header.partition(",")
    if not separator or flag != "n" or not comma or (name and (name[:2] != "a=" or not _NAME.fullmatch(name, 2))):
        raise Refused(why="not n,[a=NAME],^A…")
    if not rest.endswith(_SEPARATOR) or (len(rest) > 1 and not rest.endswith(2 * _SEPARATOR)):
        raise Refused(why="no ^A^A at the end")
    pairs: dict[str, str] = {}
    for item in rest[:-2].split(_SEPARATOR) if len(rest) > 1 else []:
        pair = _PAIR.fullmatch(item)
        if pair is None:
            raise Refused(why="not KEY=VALUE")
        pairs[pair[1]] = pair[2]
    authorization = pairs.pop(_AUTH, "")
    bearer = _TOKEN.fullmatch(authorization)
    if bearer is None or bearer[1].lower() != "bearer":
        raise Refused(why="no auth=Bearer TOKEN")
    return InitialResponse(bearer[2], name[2:], pairs)


class OAuthBearerConversation:
    """One token of the client, which proves who it is until the token ends."""

    credential = None

    def __init__(self, rules: TokenRules, keys: KeySource, wall_ms: Callable[[], int], wanted: Callable[[], None]) -> None:
        self.user: str | None = None
        self.claimed = ""
        self.expires_ms: int | None = None
        self._rules, self._keys = rules, keys
        self._wall_ms, self._wanted = wall_ms, wanted

    def answer(self, token: bytes, /) -> bytes:
        """Return the empty answer to the token. Raises Refused, Rejected and Undecided."""
        initial = parse_initial_response(token)
        self.claimed = initial.authorization_id
        try:
            proof = validated(initial.token, self._rules, self._keys.find, self._wall_ms())
        except BadToken as bad:
            raise Rejected(INVALID_TOKEN, str(bad)) from None
        except KeysNotKnown as unknown:
            raise Undecided(str(unknown)) from None
        finally:
            self._wanted()
        if initial.authorization_id not in ("", proof.subject):
            raise Refused(
                "Authentication failed: Client requested an authorization id "
                f"({initial.authorization_id}) that is different from the token's principal name ({proof.subject})"
            )
        self.user, self.expires_ms = proof.subject, proof.expires_ms
        return b""


def oauthbearer(
    rules: TokenRules, keys: KeySource, wall_ms: Callable[[], int], wanted: Callable[[], None]
) -> tuple[Begin, HasUser]:
    """Return the mechanism for the keys of a source, and that it has every user. ``wanted`` is called when a fetch may be due."""
    return lambda: OAuthBearerConversation(rules, keys, wall_ms, wanted), lambda _user: True
