"""SCRAM credentials of users (KIP-554, Kafka's ``ScramControlManager``): one for each user and mechanism.

A client sends the salted password (RFC 5802). What is stored proves a password without being one:
a hash of the client's key, and the server's key.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from coordinator_server.catalog.family import RecordFamily, Shown, Stated
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.messages.cluster_metadata import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from protocol.messages.describe_user_scram_credentials import CredentialInfo, DescribeUserScramCredentialsResult

MIN_ITERATIONS: Final = 4096
MAX_ITERATIONS: Final = 16384
MIN_SALT_BYTES: Final = 12
"""The messages of SCRAM are read and written by a library that refuses shorter salts; Kafka takes any."""
MAX_CHANGES: Final = 1_000
"""The most changes of a request, whose hashes are computed in one step. Kafka has no such limit."""


class ScramMechanism(IntEnum):
    """Kafka's ``ScramMechanism`` in requests and records."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    def __str__(self) -> str:
        return self.name.replace("_", "-")

    @property
    def digest(self) -> str:
        """The hash, by hashlib's name."""
        return "sha256" if self is ScramMechanism.SCRAM_SHA_256 else "sha512"


class CredentialKey(NamedTuple):
    """What a credential is of. ``mechanism`` is a number, because a log may have one that is unknown here."""

    user: str
    mechanism: int


def _show(record: UserScramCredentialRecord) -> Shown:
    known = record.mechanism in ScramMechanism.__members__.values()
    mechanism = str(ScramMechanism(record.mechanism)) if known else f"mechanism {record.mechanism}"
    return Shown(f"user {record.name}", mechanism, f"{record.iterations} iterations")


SCRAM_USERS: Final = RecordFamily(
    "scram-users",
    {
        UserScramCredentialRecord: lambda record: Stated(CredentialKey(record.name, record.mechanism)),
        RemoveUserScramCredentialRecord: lambda record: Stated(CredentialKey(record.name, record.mechanism), is_removal=True),
    },
    _show,
)


class Problem(NamedTuple):
    """Why a change is refused."""

    error: ErrorCode
    message: str


_TWICE: Final = Problem(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")


def credential_record(
    name: str, mechanism: ScramMechanism, salt: bytes, salted: bytes, iterations: int
) -> UserScramCredentialRecord:
    """Return the record of a credential, from the salted password."""
    client_key = hmac.digest(salted, b"Client Key", mechanism.digest)
    stored_key = hashlib.new(mechanism.digest, client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", mechanism.digest)
    return UserScramCredentialRecord(name, mechanism, salt, stored_key, server_key, iterations)


def plan_credentials(
    request: AlterUserScramCredentialsRequest, has: Callable[[CredentialKey], bool], room: int
) -> tuple[list[AlterUserScramCredentialsResult], list[CoordinatorRecord]]:
    """Return the result of each user, and the records of the valid changes. At most ``room`` credentials are added.

    Raises CoordinatorError for too many changes.
    """
    if len(request.deletions) + len(request.upsertions) > MAX_CHANGES:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"A request has at most {MAX_CHANGES} changes")
    changes: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    times = Counter(change.name for change in changes)
    results: dict[str, AlterUserScramCredentialsResult] = {}
    records: list[CoordinatorRecord] = []
    for change in changes:
        if times[change.name] > 1:
            problem: Problem | None = _TWICE
        elif isinstance(change, ScramCredentialDeletion):
            problem = _deletion_problem(change, has)
        else:
            is_new = not has(CredentialKey(change.name, change.mechanism))
            problem = _upsertion_problem(change, room if is_new else 1)
            room -= is_new and problem is None
        if problem is not None:
            results[change.name] = AlterUserScramCredentialsResult(change.name, *problem)
            continue
        results[change.name] = AlterUserScramCredentialsResult(change.name, ErrorCode.NONE, None)
        records.append(CoordinatorRecord(_record(change), None))
    return list(results.values()), records


def _record(
    change: ScramCredentialDeletion | ScramCredentialUpsertion,
) -> RemoveUserScramCredentialRecord | UserScramCredentialRecord:
    if isinstance(change, ScramCredentialDeletion):
        return RemoveUserScramCredentialRecord(change.name, change.mechanism)
    mechanism = ScramMechanism(change.mechanism)
    return credential_record(change.name, mechanism, change.salt, change.salted_password, change.iterations)


def _deletion_problem(change: ScramCredentialDeletion, has: Callable[[CredentialKey], bool]) -> Problem | None:
    problem = _name_problem(change.name, change.mechanism)
    if problem is None and not has(CredentialKey(change.name, change.mechanism)):
        return Problem(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
    return problem


def _upsertion_problem(change: ScramCredentialUpsertion, room: int) -> Problem | None:
    unacceptable = ErrorCode.UNACCEPTABLE_CREDENTIAL
    problem = _name_problem(change.name, change.mechanism)
    if problem is not None:
        return problem
    if change.iterations < MIN_ITERATIONS:
        return Problem(unacceptable, "Too few iterations")
    if change.iterations > MAX_ITERATIONS:
        return Problem(unacceptable, "Too many iterations")
    if len(change.salt) < MIN_SALT_BYTES:
        return Problem(unacceptable, f"The salt must have at least {MIN_SALT_BYTES} bytes")
    if room < 1:
        return Problem(ErrorCode.POLICY_VIOLATION, "There are scram.credentials.max credentials")
    return None


def _name_problem(name: str, mechanism: int) -> Problem | None:
    if not name:
        return Problem(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in ScramMechanism.__members__.values():
        return Problem(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return None


def describe_credentials(
    records: Iterable[UserScramCredentialRecord], names: Sequence[str]
) -> list[DescribeUserScramCredentialsResult]:
    """Return the credentials of the named users, or of all users if none is named (Kafka's ``ScramImage.describe``)."""
    found: dict[str, list[CredentialInfo]] = {}
    for record in records:
        found.setdefault(record.name, []).append(CredentialInfo(record.mechanism, record.iterations))
    times = Counter(names or list(found))
    return [_described(name, found.get(name), is_twice=count > 1) for name, count in times.items()]


def _described(name: str, infos: list[CredentialInfo] | None, *, is_twice: bool) -> DescribeUserScramCredentialsResult:
    if is_twice:
        problem = "Cannot describe SCRAM credentials for the same user twice in a single request: "
        return DescribeUserScramCredentialsResult(name, ErrorCode.DUPLICATE_RESOURCE, problem + name)
    if infos is None:
        problem = "Attempt to describe a user credential that does not exist: "
        return DescribeUserScramCredentialsResult(name, ErrorCode.RESOURCE_NOT_FOUND, problem + name)
    return DescribeUserScramCredentialsResult(name, ErrorCode.NONE, "", sorted(infos, key=lambda info: info.mechanism))
