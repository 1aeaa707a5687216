"""The commits that groups have refused since the loop's start: counts by group and error, and the last ones of each group.

An accepted commit costs nothing here. What is kept is bounded: MOST_GROUPS groups, those that have refused last; LAST_OF_GROUP
commits of each; and texts of clients up to LONGEST_TEXT characters. The counts by error are of all groups,
and are never forgotten.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from msgspec import Struct

from coordinator_server.machine.shard import RequestContext
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape

MOST_GROUPS: Final = 500
LAST_OF_GROUP: Final = 5
LONGEST_TEXT: Final = 255
ERRORS: Final = (
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNSUPPORTED_VERSION,
)
"""The errors with which groups refuse commits."""


class RefusedCommit(Struct, frozen=True):
    """A commit that a group has refused.

    ``at_ms`` is in ms since 1970; ``epoch`` is the generation or member epoch of the request.
    """

    at_ms: int
    error: str
    operation: str
    client_id: str
    client_host: str
    member_id: str
    group_instance_id: str | None
    epoch: int


class RefusedOfGroup(Struct):
    """What one group has refused: the number by error, and the last ones, the newest at the end."""

    group_id: str
    errors: dict[str, int]
    last: list[RefusedCommit]


class _OfGroup:
    __slots__ = ("errors", "last")

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        self.last: deque[RefusedCommit] = deque(maxlen=LAST_OF_GROUP)


class RefusedCommits:
    """The counts of one loop. ``errors`` has those of all groups."""

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        # The group that has refused last is at the end.
        self._groups: dict[str, _OfGroup] = {}

    def count(self, at_ms: int, context: RequestContext, request: OffsetCommitRequest | CommitShape, error: ErrorCode) -> None:
        """Count a commit."""
        group_id, name = request.group_id, error.name
        self.errors[name] += 1
        of_group = self._groups.pop(group_id, None) or _OfGroup()
        self._groups[group_id] = of_group
        if len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]
        of_group.errors[name] += 1
        api = APIS.get(context.api_key)
        operation = f"{api.name if api is not None else context.api_key} v{context.api_version}"
        instance_id = None if request.group_instance_id is None else request.group_instance_id[:LONGEST_TEXT]
        of_group.last.append(
            RefusedCommit(
                at_ms,
                name,
                operation,
                context.client_id[:LONGEST_TEXT],
                context.client_host,
                request.member_id[:LONGEST_TEXT],
                instance_id,
                request.generation_id_or_member_epoch,
            )
        )

    def of_groups(self, group_ids: list[str] | None = None) -> list[RefusedOfGroup]:
        """Return what some groups have refused, or all that are kept, those that have refused last at the end."""
        wanted = self._groups if group_ids is None else [each for each in group_ids if each in self._groups]
        return [RefusedOfGroup(each, dict(self._groups[each].errors), list(self._groups[each].last)) for each in wanted]
