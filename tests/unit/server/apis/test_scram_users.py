"""AlterUserScramCredentials: its cost to the connection that sends it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.scram_users import alter_user_scram_credentials
from coordinator_server.server.wire.quantum import QUANTUM
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)


def test_a_hundred_changes_of_users_take_the_turn_of_a_connection() -> None:
    """Deletions and upsertions alike: a request with many does not let others wait longer than a turn."""
    used: list[int] = []
    written: list[object] = []
    node = SimpleNamespace(catalog=SimpleNamespace(write=lambda *asked: written.append(asked[2])))
    reply = SimpleNamespace(connection=SimpleNamespace(use_up=used.append))
    request = AlterUserScramCredentialsRequest(
        [ScramCredentialDeletion(f"u{each}", 1) for each in range(60)],
        [ScramCredentialUpsertion(f"v{each}", 1, 4096, b"salt", b"salted") for each in range(40)],
    )

    alter_user_scram_credentials(cast(Any, node), RequestContext("", "", 51, 0), request, cast(Any, reply))

    assert [round(each / QUANTUM, 2) for each in used] == [1.0]
    assert written == [request]
