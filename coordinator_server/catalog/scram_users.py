"""SCRAM credentials of users (KIP-554, Kafka's ``ScramControlManager``): one for each user and mechanism."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from coordinator_server.catalog.family import RecordFamily, Shown, Stated
from protocol.messages.cluster_metadata import RemoveUserScramCredentialRecord, UserScramCredentialRecord


class ScramMechanism(IntEnum):
    """Kafka's ``ScramMechanism`` in requests and records."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    def __str__(self) -> str:
        return self.name.replace("_", "-")


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
