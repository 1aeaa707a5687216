"""SCRAM (RFC 5802, RFC 7677) with the users of the catalog. The messages and proofs are scramp's.

An unknown user gets an answer like a known one, and is refused at the end like a wrong password: Kafka refuses it at once.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from scramp import ScramException
from scramp import ScramMechanism as Scramp

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism
from coordinator_server.security.sasl.conversation import Begin, HasUser, Refused
from protocol.messages.cluster_metadata import UserScramCredentialRecord
from protocol.scram_salts import SALT_BITS, salt_of

LONGEST_MESSAGE: Final = 1 << 11
"""Bytes of a client's message. Its names are prepared character by character: 64 KiB, which strangers may send, take 0.1 s."""
_HASH_BYTES: Final = {ScramMechanism.SCRAM_SHA_256: 32, ScramMechanism.SCRAM_SHA_512: 64}


class Credentials(Protocol):
    """The credentials that hold in this loop."""

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        """Return the credential of a user for a mechanism, or None."""


class Strangers:
    """The credentials of users that do not exist. No password matches.

    Salt and iterations are a function of a secret key, the name and the mechanism, and of nothing else: the answer does not tell
    by a change that users come and go. The salt has the form of those that Kafka's tools and ours make (``ScramFormatter``).
    """

    def __init__(self, key: bytes, iterations: Sequence[int]) -> None:
        """``iterations`` are those that strangers appear to have: one of them, each as likely as the others."""
        self._key = key
        self._iterations = iterations

    def credential(self, user: str, mechanism: ScramMechanism) -> UserScramCredentialRecord:
        """Return a credential that looks like those of known users."""
        drawn = int.from_bytes(hmac.digest(self._key, f"{mechanism}:{user}".encode(errors="surrogatepass"), "sha256"))
        rest, bits = divmod(drawn, 1 << SALT_BITS)
        proof = secrets.token_bytes(_HASH_BYTES[mechanism])
        iterations = self._iterations[rest % len(self._iterations)]
        return UserScramCredentialRecord(user, mechanism, salt_of(bits), proof, proof, iterations)


class ScramUsers(NamedTuple):
    """What is said of users: of those that the catalog has, and of all others."""

    credentials: Credentials
    strangers: Strangers


class ScramConversation:
    """Two messages of the client, and two answers."""

    expires_ms = None

    def __init__(self, mechanism: ScramMechanism, users: ScramUsers) -> None:
        self.user: str | None = None
        self.claimed = ""
        self.credential: CredentialKey | None = None
        self._mechanism = mechanism
        self._credentials, self._strangers = users
        self._asked: CredentialKey | None = None
        self._is_begun = False
        self._server = Scramp(str(mechanism)).make_server(self._look_up)

    def answer(self, token: bytes, /) -> bytes:
        """Return the answer to a message of the client. Raises Refused."""
        if len(token) > LONGEST_MESSAGE:
            raise Refused
        try:
            message = token.decode()
            if not self._is_begun:
                self._is_begun = True
                self._server.set_client_first(message)
                return str(self._server.get_server_first()).encode()
            self._server.set_client_final(message)
            answer = str(self._server.get_server_final()).encode()
        except (ScramException, UnicodeDecodeError):
            raise Refused from None
        if self._asked is None or self._credentials.credential(self._asked) is None:
            # A proof for an unknown user cannot be right; a user may have been removed since the first message.
            raise Refused
        self.user, self.credential = self._asked.user, self._asked
        return answer

    def _look_up(self, user: str) -> tuple[bytes, bytes, bytes, int]:
        self.claimed = user
        self._asked = CredentialKey(user, self._mechanism)
        # Made for known users, too, so that they do not take less time.
        stranger = self._strangers.credential(user, self._mechanism)
        record = self._credentials.credential(self._asked) or stranger
        return record.salt, record.stored_key, record.server_key, record.iterations


def scram(mechanism: ScramMechanism, users: ScramUsers) -> tuple[Begin, HasUser]:
    """Return the mechanism for the users of the catalog, and that the listener has none of its own."""
    return lambda: ScramConversation(mechanism, users), lambda _user: False
