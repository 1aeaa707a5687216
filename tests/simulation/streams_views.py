"""What must be true of a streams group when it is settled, and of its log. ``support/streams_views.py`` has what always must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from coordinator_server.group.shard import GroupShard
from coordinator_server.group.streams import status
from coordinator_server.group.streams.records import RECORDS
from protocol.messages.streams_group_records import StreamsGroupTopologyKey, StreamsGroupTopologyValue
from tests.simulation.epochs_log import Epochs, check_author, check_epoch
from tests.simulation.mirror import LogRecord
from tests.simulation.streams_member import ACTIVE, STANDBY, StreamsMember
from tests.simulation.streams_program import Counts, Program
from tests.support.streams_views import StreamsView, misplaced, view_of_group


def streams_view_of(shard: GroupShard, _offset: int, group_id: str) -> StreamsView:
    """Return the state of a streams group, also as far as it is not durable yet."""
    group = shard.groups.streams.by_id.get(group_id)
    return StreamsView() if group is None else view_of_group(group)


def unsettled_streams(
    view: StreamsView, members: list[StreamsMember], program: Program, counts: Counts, replicas: int
) -> Iterator[str]:
    """Yield what is not as it has to be when nothing has happened for a while. A newer program than the group's stays outside."""
    admitted = [each for each in members if not (each.is_refused and each.topology.epoch > view.topology_epoch)]
    known, living = set(view.members), {each.member_id for each in admitted}
    if known != living or len(living) != len(admitted):
        yield f"strangers {sorted(known - living)}, missing {sorted(living - known)}"
        return
    if not admitted:
        return
    newer = [each.name for each in admitted if each.topology.epoch > view.topology_epoch]
    if newer:
        yield f"of version {view.topology_epoch}, and these are newer: {newer}"
        return
    if view.epoch != view.assignment_epoch:
        yield f"the group is in epoch {view.epoch}, its assignment in {view.assignment_epoch}"
    behind = [name for name, each in view.members.items() if each.epoch != view.epoch or not each.is_reconciled]
    waiting = [each.name for each in admitted if not each.is_settled or each.epoch != view.epoch]
    if behind or waiting:
        yield f"not reconciled: {behind}, not settled: {waiting}"
    outcome = program.outcome(view.topology_epoch, counts)
    if outcome.problem == status.MISSING_INTERNAL_TOPICS:
        yield "internal topics are missing"
    for each in admitted:
        told = {outcome.problem} if outcome.problem is not None else set()
        told |= {status.STALE_TOPOLOGY} if each.topology.epoch < view.topology_epoch else set()
        if each.statuses != told:
            yield f"{each.name} is told {sorted(each.statuses)}, not {sorted(told)}"
        of_group = view.members[each.member_id]
        if each.held != {*((ACTIVE, task) for task in of_group.active), *((STANDBY, task) for task in of_group.standby)}:
            yield f"{each.name} has something else than the group gives it: {sorted(each.held)}, {of_group}"
    yield from misplaced(view, outcome.tasks, program.stateful(view.topology_epoch, replicas))


def check_streams_log(written: Iterable[LogRecord]) -> Iterator[str]:
    """Epochs rise and the topology stays as long as a group lives; members that are gone change nothing."""
    epochs: Epochs = {}
    topologies: dict[str, StreamsGroupTopologyValue] = {}
    for each in written:
        key: Any = each.record.key
        value: Any = each.record.value
        yield from check_author(each)
        yield from check_epoch(each, RECORDS, epochs)
        if isinstance(key, StreamsGroupTopologyKey):
            if value is None:
                topologies.pop(key.group_id, None)
            elif topologies.setdefault(key.group_id, value) != value:
                yield f"the topology of a group has changed: {each}"
