"""Users of SCRAM (KIP-554): DescribeUserScramCredentials and AlterUserScramCredentials."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from coordinator_server.client.admin.cluster import Cluster, check, error_of
from coordinator_server.client.errors import ClientError
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from protocol.scram_salts import SALT_BITS, salt_of


class Mechanism(IntEnum):
    """Kafka's ``ScramMechanism``."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    def __str__(self) -> str:
        return self.name.replace("_", "-")


@dataclass(frozen=True, order=True)
class Credential:
    """That a user has a password for a mechanism. ``mechanism`` may be a number that is not known here."""

    user: str
    mechanism: int
    iterations: int


def upsertion(user: str, password: str, mechanism: Mechanism, iterations: int) -> ScramCredentialUpsertion:
    """Return what is sent of a password: as Kafka's tools compute it, from its bytes in UTF-8 without SASLprep."""
    # A number that is not short: servers may refuse short salts.
    salt = salt_of(1 << SALT_BITS - 1 | secrets.randbits(SALT_BITS - 1))
    digest = "sha256" if mechanism is Mechanism.SCRAM_SHA_256 else "sha512"
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
    return ScramCredentialUpsertion(user, mechanism, iterations, salt, salted)


def deletions(user: str, mechanisms: Sequence[int]) -> list[AlterUserScramCredentialsRequest]:
    """Return the requests that remove a user's credentials: Kafka takes one change of a user in a request."""
    return [AlterUserScramCredentialsRequest([ScramCredentialDeletion(user, each)], []) for each in mechanisms]


async def describe_users(cluster: Cluster) -> list[Credential]:
    """Return the credentials of all users. Raises ClientError."""
    answer = await cluster.ask(DescribeUserScramCredentialsRequest(None), DescribeUserScramCredentialsResponse)
    check("DescribeUserScramCredentials", answer.error_code, answer.error_message)
    found = [Credential(each.user, info.mechanism, info.iterations) for each in answer.results for info in each.credential_infos]
    return sorted(found)


async def alter_user(cluster: Cluster, request: AlterUserScramCredentialsRequest) -> ClientError | None:
    """Make a change of one user; return why it is refused, or None. Raises ClientError."""
    return refusal_of(await cluster.ask_controller(request, AlterUserScramCredentialsResponse))


def refusal_of(answer: AlterUserScramCredentialsResponse) -> ClientError | None:
    """Return why the change of one user is refused, or None."""
    [result] = answer.results
    return error_of(f"user {result.user}", result.error_code, result.error_message)
