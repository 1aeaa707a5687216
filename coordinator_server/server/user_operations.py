"""Operations of ``control.sock`` on the users of SCRAM. The request names the catalog's shard, so that its owner gets the request.

{"op": "users", "shards": ["__cluster_metadata-0"]}
{"ok": true, "users": [{"user": "alice", "mechanism": 2, "iterations": 8192}]}

{"op": "alter-users", "shards": ["__cluster_metadata-0"], "user": "alice", "request": "…"}
{"ok": true, "response": "…", "changed": ["User:alice SCRAM-SHA-512 set"]}

``request`` and ``response`` are those of AlterUserScramCredentials version 0, in base64: no password is in them, but what is made of it.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Mapping
from typing import Any

from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.server.audited_apis import NAMED
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.cluster.operations import ALTER_SCRAM_USERS
from coordinator_server.server.control import Refusal
from coordinator_server.server.node import Node
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)

_VERSION = 0


def encode_change(request: AlterUserScramCredentialsRequest) -> str:
    """Return a change as the operation takes it."""
    return b64encode(encode(request, _VERSION)).decode()


def decode_outcome(text: str) -> AlterUserScramCredentialsResponse:
    """Return the outcome as the operation answers it."""
    return decode(AlterUserScramCredentialsResponse, _VERSION, b64decode(text))


async def answer_users(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the mechanisms of all users, never salts and keys."""
    records = sorted(node.catalog.records(SCRAM_USERS), key=lambda each: (each.name, each.mechanism))
    return {"users": [{"user": each.name, "mechanism": each.mechanism, "iterations": each.iterations} for each in records]}


async def answer_alter_users(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Set and remove credentials, and return when all loops know it. Raises Refusal."""
    try:
        wanted = decode(AlterUserScramCredentialsRequest, _VERSION, b64decode(str(request.get("request")), validate=True))
    except (BadBase64, DecodeError) as error:
        raise Refusal(f"not a change of users: {error}") from error
    outcome: asyncio.Future[AlterUserScramCredentialsResponse] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        outcome.set_exception(Refusal(f"{error.name}: {message or 'nothing was changed'}"))

    node.catalog.write(ALTER_SCRAM_USERS, node.ourselves, wanted, CallbackReply(outcome.set_result, refused))
    response = b64encode(encode(await outcome, _VERSION)).decode()
    return {"response": response, "changed": NAMED["AlterUserScramCredentials"](wanted).texts}
