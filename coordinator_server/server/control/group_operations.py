"""Operations of ``control.sock`` on groups. A request about one group names its shard, so the loop that owns it gets the request.

{"op": "restore", "shards": ["__consumer_offsets-7"], "group": {"group_id": "readers",
 "offsets": [{"topic": "t", "partition": 0, "offset": 5}], "as_of": "…"}}
{"ok": true, "restored": {"written": 1, "deleted": 0}}

{"op": "groups", "shards": ["__consumer_offsets-7"]}, or without shards: those of all
{"ok": true, "groups": [{"group_id": "readers", "type": "classic", "state": "Empty", "protocol_type": "", "generation": 0,
 "members": 0}], "left": ["__consumer_offsets-8", …]}: a page has the groups of whole shards; ask for those that are left

{"op": "holdups", "shards": ["__consumer_offsets-7"], "groups": ["readers"]}, or without groups and shards: of all
{"ok": true, "holdups": [{"group_id": "readers", "what": "has not joined again", "member_id": "…", "out_in_ms": 41000, …}],
 "unknown": []}: named groups that do not exist

{"op": "expiring", "shards": ["__consumer_offsets-7"], "group": "readers"}
{"ok": true, "expiring": [{"topic": "t", "partition": 0, "at_ms": 1764000000000}], "is_known": true}
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from coordinator_server.group.describe import EVERY_GROUP
from coordinator_server.group.holdup import Holdup
from coordinator_server.group.restore import Restore
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.control.durable_write import written
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal

GROUPS_PER_STEP: Final = 200
GROUPS_PER_PAGE: Final = 20_000
"""About two megabytes of an answer, and twenty of a loop's memory while it is made."""
RESTORE: Final = WriteOperation("restore-offsets", GroupShard.restore_offsets)


async def answer_restore(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the offsets of a group and return when they are durable. Raises Refusal."""
    try:
        wanted = msgspec.convert(request.get("group"), Restore)
    except msgspec.ValidationError as error:
        raise Refusal(f"not a group to restore: {error}") from error
    for each in wanted.offsets:
        topic = node.image.topic(each.topic)
        each.topic_id = topic.topic_id if topic is not None else each.topic_id
    partition = node.partition_of(wanted.group_id)
    restored = await written(node.groups, partition, RESTORE, node.ourselves, wanted)
    return {"restored": msgspec.to_builtins(restored)}


async def answer_groups(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the groups of this loop, or of some shards, and the shards for which there was no room.

    The loop serves others after each portion. Raises Refusal.
    """
    hosted = {str(each.shard): each.shard.partition for each in node.groups.progress}
    wanted: list[str] = request.get("shards") or list(hosted)
    if unknown := [name for name in wanted if name not in hosted]:
        raise Refusal(f"no shard {unknown[0]} here; there are: {', '.join(hosted)}")
    found: list[Mapping[str, Any]] = []
    for answered, name in enumerate(wanted):
        partition = hosted[name]
        if found and len(found) + node.groups.read(partition, GroupShard.group_count) > GROUPS_PER_PAGE:
            return {"groups": found, "left": wanted[answered:]}
        candidates = node.groups.read(partition, GroupShard.candidates)
        while portion := list(islice(candidates, GROUPS_PER_STEP)):
            for listed in node.groups.read(partition, GroupShard.list_groups, EVERY_GROUP, portion):
                generation, members = node.groups.read(partition, GroupShard.generation, listed.group_id)
                found.append(
                    {
                        "group_id": listed.group_id,
                        "type": listed.group_type,
                        "state": listed.group_state,
                        "protocol_type": listed.protocol_type,
                        "generation": generation,
                        "members": members,
                    }
                )
            await asyncio.sleep(0)
    return {"groups": found, "left": []}


async def answer_holdups(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what some groups wait for, or all of this loop. The loop serves others after each portion. Raises Refusal."""
    try:
        wanted = msgspec.convert(request.get("groups"), list[str] | None)
    except msgspec.ValidationError as error:
        raise Refusal(f"groups is no list of group ids: {error}") from error
    hosted = {each.shard.partition for each in node.groups.progress}
    named: dict[int, list[str]] = {}
    for group_id in wanted or ():
        named.setdefault(node.partition_of(group_id), []).append(group_id)
    found: list[Holdup] = []
    unknown: list[str] = []
    for partition in sorted(hosted if wanted is None else hosted & named.keys()):
        candidates = node.groups.read(partition, GroupShard.candidates) if wanted is None else iter(named[partition])
        while portion := list(islice(candidates, GROUPS_PER_STEP)):
            found += node.groups.read(partition, GroupShard.holdups, portion)
            if wanted is not None:
                unknown += [each for each in portion if not node.groups.read(partition, GroupShard.has_group, each)]
            await asyncio.sleep(0)
    return {"holdups": msgspec.to_builtins(found), "unknown": unknown}


async def answer_expiring(node: Node, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return when a group's offsets expire in the present state. Offsets that do not expire are omitted. Raises Refusal."""
    group_id = str(request.get("group"))
    try:
        partition = node.partition_of(group_id)
        due = node.groups.read(partition, GroupShard.expiring, group_id)
        is_known = node.groups.read(partition, GroupShard.has_group, group_id)
    except CoordinatorError as refused:
        raise Refusal(f"{refused.error.name}: {refused.message or 'ask again'}") from refused
    return {"expiring": [each._asdict() for each in due], "is_known": is_known}
