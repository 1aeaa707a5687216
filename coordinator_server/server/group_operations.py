"""Operations of ``control.sock`` on one group. The request names the group's shard, so the loop that owns it gets the request.

{"op": "restore", "shards": ["__consumer_offsets-7"], "group": {"group_id": "readers", "offsets": [{"topic": "t", "partition": 0, "offset": 5}], "as_of": "…"}}
{"ok": true, "restored": {"written": 1, "deleted": 0}}

{"op": "expiring", "shards": ["__consumer_offsets-7"], "group": "readers"}
{"ok": true, "expiring": [{"topic": "t", "partition": 0, "at_ms": 1764000000000}]}
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from coordinator_server.group.restore import Restore, Restored
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.control import Refusal
from coordinator_server.server.node import Node
from protocol.error_codes import ErrorCode

RESTORE: Final = WriteOperation("restore-offsets", GroupShard.restore_offsets)


async def answer_restore(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the offsets of a group and return when they are durable. Raises Refusal."""
    try:
        wanted = msgspec.convert(request.get("group"), Restore)
    except msgspec.ValidationError as error:
        raise Refusal(f"not a group to restore: {error}") from error
    for each in wanted.offsets:
        topic = node.topic(each.topic)
        each.topic_id = topic.topic_id if topic is not None else each.topic_id
    outcome: asyncio.Future[Restored] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        outcome.set_exception(Refusal(f"{error.name}: {message or 'nothing was changed'}"))

    partition = partition_for(wanted.group_id, node.partitions)
    node.groups.write(partition, RESTORE, node.ourselves, wanted, CallbackReply(outcome.set_result, refused))
    return {"restored": msgspec.to_builtins(await outcome)}


async def answer_expiring(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return when a group's offsets expire in the present state. Offsets that do not expire are omitted. Raises Refusal."""
    group_id = str(request.get("group"))
    try:
        due = node.groups.read(partition_for(group_id, node.partitions), GroupShard.expiring, group_id)
    except CoordinatorError as refused:
        raise Refusal(f"{refused.error.name}: {refused.message or 'ask again'}") from refused
    return {"expiring": [each._asdict() for each in due]}
