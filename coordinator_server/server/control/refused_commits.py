"""The operation of ``control.sock`` that shows the commits which groups have refused.

{"op": "refused-commits", "shards": ["__consumer_offsets-7"], "groups": ["readers"]}, or without groups and shards: of all
{"ok": true, "refused_commits": [{"group_id": "readers", "errors": {"ILLEGAL_GENERATION": 3}, "last": [{"at_ms": …, …}]}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from coordinator_server.server.hosting.refused_commits import RefusedCommits
from coordinator_server.server.local_operation import Refusal


async def answer_refused_commits(refused: RefusedCommits, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer the operation of ``control.sock``. Raises Refusal."""
    try:
        wanted = msgspec.convert(request.get("groups"), list[str] | None)
    except msgspec.ValidationError as error:
        raise Refusal(f"groups is no list of group ids: {error}") from error
    return {"refused_commits": msgspec.to_builtins(refused.of_groups(wanted))}
