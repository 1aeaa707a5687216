"""Operations of ``control.sock`` on users and quotas. A request names the catalog's shard, so that its owner gets the request.

{"op": "users", "shards": ["__cluster_metadata-0"]}
{"ok": true, "users": [{"user": "alice", "mechanism": 2, "iterations": 8192}]}

{"op": "alter-users", "shards": ["__cluster_metadata-0"], "user": "alice", "request": "…"}
{"ok": true, "response": "…", "changed": ["User:alice SCRAM-SHA-512 set"]}

{"op": "quotas", "shards": ["__cluster_metadata-0"]}
{"ok": true, "quotas": [{"entity": {"user": "alice"}, "quota": "request_percentage", "value": 50.0}]}

{"op": "alter-quotas", "shards": ["__cluster_metadata-0"], "request": "…"}
{"ok": true, "response": "…", "changed": ["ClientQuota:user=alice request_percentage=50.0"]}

``request`` and ``response`` are Kafka's messages of version 0, in base64: no password is in them, but what is made of it. The
name of the default entity is null.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS, key_of
from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.cluster.operations import ALTER_CLIENT_QUOTAS, ALTER_SCRAM_USERS
from coordinator_server.server.guard.audited_apis import NAMED
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.fields import Message
from protocol.messages.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse

_VERSION: Final = 0


class Change(NamedTuple):
    """A change of the catalog as an operation: ``op`` is its name, ``api`` that of Kafka's API for it."""

    op: str
    api: str
    operation: WriteOperation[CatalogShard, Any, Any]
    request: type[Message]
    response: type[Message]

    def encode_request(self, request: Message) -> str:
        """Return a request as the operation takes it."""
        return b64encode(encode(request, _VERSION)).decode()

    def decode_response(self, text: str) -> Any:
        """Return the response as the operation answers it."""
        return decode(self.response, _VERSION, b64decode(text))

    async def answer(self, node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make the change, and return when all loops know it. Raises Refusal."""
        try:
            wanted = decode(self.request, _VERSION, b64decode(str(request.get("request")), validate=True))
        except (BadBase64, DecodeError) as error:
            raise Refusal(f"not a request of {self.api}: {error}") from error
        outcome: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

        def refused(error: ErrorCode, message: str | None) -> None:
            outcome.set_exception(Refusal(f"{error.name}: {message or 'nothing was changed'}"))

        node.catalog.write(self.operation, node.ourselves, wanted, CallbackReply(outcome.set_result, refused))
        response = b64encode(encode(await outcome, _VERSION)).decode()
        named = "checked" if getattr(wanted, "validate_only", False) else "changed"
        return {"response": response, named: NAMED[self.api](wanted).texts}


CHANGE_OF_USERS: Final = Change(
    "alter-users",
    "AlterUserScramCredentials",
    ALTER_SCRAM_USERS,
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
CHANGE_OF_QUOTAS: Final = Change(
    "alter-quotas", "AlterClientQuotas", ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest, AlterClientQuotasResponse
)


async def answer_users(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the mechanisms of all users, never salts and keys."""
    records = sorted(node.catalog.read(CatalogShard.records, SCRAM_USERS), key=lambda each: (each.name, each.mechanism))
    return {"users": [{"user": each.name, "mechanism": each.mechanism, "iterations": each.iterations} for each in records]}


async def answer_quotas(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return all quotas of clients."""
    records = node.catalog.read(CatalogShard.records, CLIENT_QUOTAS)
    return {"quotas": [{"entity": dict(key_of(each).entity), "quota": each.key, "value": each.value} for each in records]}


OPERATIONS: Final = {
    "users": answer_users,
    CHANGE_OF_USERS.op: CHANGE_OF_USERS.answer,
    "quotas": answer_quotas,
    CHANGE_OF_QUOTAS.op: CHANGE_OF_QUOTAS.answer,
}
"""By name; each takes the node and the request."""
