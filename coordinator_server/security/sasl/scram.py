"""SCRAM (RFC 5802, RFC 7677) with the users of the catalog. The messages and proofs are scramp's.

An unknown user gets an answer like a known one, and is refused at the end like a wrong password: Kafka refuses it at once.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Final, Protocol

from scramp import ScramException
from scramp import ScramMechanism as Scramp

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism
from coordinator_server.security.sasl.exchange import Begin, HasUser, Refused
from protocol.messages.cluster_metadata import UserScramCredentialRecord

_SALT_BYTES: Final = 24
_HASH_BYTES: Final = {ScramMechanism.SCRAM_SHA_256: 32, ScramMechanism.SCRAM_SHA_512: 64}


class Credentials(Protocol):
    """The credentials that hold in this loop."""

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        """Return the credential of a user for a mechanism, or None."""

    def usual_iterations(self, mechanism: ScramMechanism, /) -> int:
        """Return the number of iterations that most credentials of a mechanism have."""


class Strangers:
    """The credentials of users that do not exist: the salt of a name is always the same, and no password matches."""

    def __init__(self, mechanism: ScramMechanism) -> None:
        self._mechanism = mechanism
        self._key = secrets.token_bytes(32)

    def credential(self, user: str, iterations: int) -> UserScramCredentialRecord:
        """Return a credential that looks like those of known users."""
        salt = hmac.digest(self._key, user.encode(errors="surrogatepass"), "sha256")[:_SALT_BYTES]
        proof = secrets.token_bytes(_HASH_BYTES[self._mechanism])
        return UserScramCredentialRecord(user, self._mechanism, salt, proof, proof, iterations)


class ScramExchange:
    """Two messages of the client, and two answers."""

    expires_ms = None

    def __init__(self, mechanism: ScramMechanism, credentials: Credentials, strangers: Strangers) -> None:
        self.user: str | None = None
        self.claimed = ""
        self.credential: CredentialKey | None = None
        self._mechanism = mechanism
        self._credentials = credentials
        self._strangers = strangers
        self._asked: CredentialKey | None = None
        self._is_begun = False
        self._server = Scramp(str(mechanism)).make_server(self._look_up)

    def answer(self, token: bytes, /) -> bytes:
        """Return the answer to a message of the client. Raises Refused."""
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
        stranger = self._strangers.credential(user, self._credentials.usual_iterations(self._mechanism))
        record = self._credentials.credential(self._asked) or stranger
        return record.salt, record.stored_key, record.server_key, record.iterations


def scram(mechanism: ScramMechanism, credentials: Credentials) -> tuple[Begin, HasUser]:
    """Return the mechanism for the users of the catalog, and that the listener has none of its own."""
    strangers = Strangers(mechanism)
    return lambda: ScramExchange(mechanism, credentials, strangers), lambda _user: False
