"""PLAIN (RFC 4616) with the users of ``plain.sasl.jaas.config``, as Kafka's ``PlainSaslServer`` has it."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Final

from coordinator_server.security.sasl.conversation import Begin, HasUser, Refused

_TOKENS: Final = 3
_USER: Final = "user_"


class PlainUsers:
    """The users of a listener. Their passwords are kept as keyed hashes, which all take the same time to compare."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._key = secrets.token_bytes(32)
        self._hashes = {
            name.removeprefix(_USER): self._hash(password) for name, password in options.items() if name.startswith(_USER)
        }
        self._nobody = secrets.token_bytes(32)

    def has(self, user: str) -> bool:
        """Return whether there is a user of this name."""
        return user in self._hashes

    def is_password(self, user: str, password: str) -> bool:
        """Return whether it is the user's password. An unknown user takes as long as a known one."""
        return hmac.compare_digest(self._hashes.get(user, self._nobody), self._hash(password))

    def _hash(self, password: str) -> bytes:
        return hmac.digest(self._key, password.encode(errors="surrogatepass"), "sha256")


class PlainConversation:
    """One token: an authorization id, which is empty or the user, the user, and the password."""

    expires_ms = None
    credential = None

    def __init__(self, users: PlainUsers) -> None:
        self.user: str | None = None
        self.claimed = ""
        self._users = users

    def answer(self, token: bytes, /) -> bytes:
        """Return the empty answer to the token. Raises Refused."""
        parts = token.decode(errors="replace").split("\0")
        if len(parts) != _TOKENS:
            found = min(len(parts), _TOKENS + 1)
            raise Refused(f"Invalid SASL/PLAIN response: expected {_TOKENS} tokens, got {found}")
        authorization_id, user, password = parts
        self.claimed = user
        if not user:
            raise Refused("Authentication failed: username not specified")
        if not password:
            raise Refused("Authentication failed: password not specified")
        if not self._users.is_password(user, password):
            raise Refused("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise Refused("Authentication failed: Client requested an authorization id that is different from username")
        self.user = user
        return b""


def plain(options: Mapping[str, str]) -> tuple[Begin, HasUser]:
    """Return the mechanism for the users in the options of a JAAS entry, ``user_NAME=PASSWORD``, and which users it has."""
    users = PlainUsers(options)
    return lambda: PlainConversation(users), users.has
