"""What must be true of a share group in the server's state, in its log, and when it is settled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from coordinator_server.group.shard import GroupShard
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.state_topics import TopicsWithPartitions, state_topics_of
from protocol.messages.share_group_records import ShareGroupStatePartitionMetadataKey
from tests.simulation.epochs_log import Epochs, check_author, check_epoch
from tests.simulation.mirror import LogRecord
from tests.simulation.ownership import Position
from tests.simulation.share_member import ShareMember

Topics = Mapping[str, tuple[bytes, int]]
"""The id and the number of partitions of each topic."""


class ShareMemberView(Struct):
    """A member of a share group."""

    epoch: int
    assigned: set[Position]


class ShareView(Struct):
    """A share group. A group that does not exist has epoch 0."""

    epoch: int = 0
    assignment_epoch: int = 0
    members: dict[str, ShareMemberView] = {}
    initializing: set[Position] = set()
    initialized: set[Position] = set()
    deleting: tuple[bytes, ...] = ()


def share_view_of(shard: GroupShard, _offset: int, group_id: str) -> ShareView:
    """Return the state of a share group, also as far as it is not durable yet."""
    group = shard.groups.share.by_id.get(group_id)
    if group is None:
        return ShareView()
    members = {
        member_id: ShareMemberView(
            member.member_epoch,
            {(topic_id, partition) for topic_id, partitions in member.assigned.items() for partition in partitions},
        )
        for member_id, member in group.members.items()
    }
    topics = group.state_topics.value
    return ShareView(
        group.group_epoch,
        group.assignment_epoch,
        members,
        _positions(topics.initializing),
        _positions(topics.initialized),
        topics.deleting,
    )


def check_share_state(
    group_id: str, view: ShareView, topic_ids: Collection[bytes], states: Collection[Position] | None
) -> Iterator[str]:
    """At any moment: epochs in order; what is assigned is initialized, and what is initialized has a state.

    ``topic_ids`` are the topics that exist, ``states`` the share partitions of the group that have a state;
    None if that is not known.
    """
    if view.assignment_epoch > view.epoch:
        yield f"the assignment of {group_id} is newer than the group: {view}"
    if any(member.epoch > view.assignment_epoch for member in view.members.values()):
        yield f"a member of {group_id} is newer than its assignment: {view}"
    assigned = _present({position for member in view.members.values() for position in member.assigned}, topic_ids)
    if not assigned <= view.initialized:
        yield f"assigned and not initialized in {group_id}: {sorted(assigned - view.initialized)}"
    without = set() if states is None else _present(view.initialized, topic_ids) - set(states)
    if without:
        yield f"initialized and without a state in {group_id}: {sorted(without)}"


def unsettled_share(
    view: ShareView, members: list[ShareMember], topics: Topics, states: Collection[Position] | None
) -> Iterator[str]:
    """Yield what is not as it has to be when nothing has happened for a while."""
    known, living = set(view.members), {each.member_id for each in members}
    if known != living or len(living) != len(members):
        yield f"strangers {sorted(known - living)}, missing {sorted(living - known)}"
    if view.initializing or view.deleting:
        yield f"initializing {sorted(view.initializing)}, deleting {view.deleting}"
    if states is None or set(states) != view.initialized:
        yield f"states {None if states is None else sorted(states)}, initialized {sorted(view.initialized)}"
    if not members:
        return
    if view.epoch != view.assignment_epoch:
        yield f"the group is in epoch {view.epoch}, its assignment in {view.assignment_epoch}"
    waiting = [each.name for each in members if not each.is_settled or each.epoch != view.epoch]
    if waiting:
        yield f"not settled: {waiting}"
    differ = [each.name for each in members if each.member_id in known and each.assigned != view.members[each.member_id].assigned]
    if differ:
        yield f"have something else than the group gives them: {differ}"
    wanted = {position for each in members for position in _wanted(each, topics)}
    given = {position for each in members for position in each.assigned}
    if given != wanted:
        yield f"assigned are {sorted(given)}, wanted {sorted(wanted)}"
    idle = [each.name for each in members if _wanted(each, topics) and not each.assigned]
    strange = [each.name for each in members if not each.assigned <= _wanted(each, topics)]
    if idle or strange:
        yield f"have nothing: {idle}, have what they do not want: {strange}"


def check_share_log(written: Iterable[LogRecord]) -> Iterator[str]:
    """Epochs rise as long as a group lives; a state is announced before it is there; members that are gone change nothing."""
    epochs: Epochs = {}
    announced: dict[str, set[Position]] = {}
    initialized: dict[str, set[Position]] = {}
    for each in written:
        key: Any = each.record.key
        value: Any = each.record.value
        yield from check_author(each)
        yield from check_epoch(each, RECORDS, epochs)
        match key:
            case ShareGroupStatePartitionMetadataKey() if value is None:
                announced.pop(key.group_id, None)
                initialized.pop(key.group_id, None)
            case ShareGroupStatePartitionMetadataKey():
                topics = state_topics_of(value)
                new = _positions(topics.initialized) - initialized.get(key.group_id, set())
                if not new <= announced.get(key.group_id, set()):
                    yield f"initialized, and nobody was about to do so: {each}"
                announced[key.group_id] = _positions(topics.initializing)
                initialized[key.group_id] = _positions(topics.initialized)
            case _:
                pass


def _positions(topics: TopicsWithPartitions) -> set[Position]:
    return {(topic_id, partition) for topic_id, topic in topics.items() for partition in topic.partitions}


def _present(positions: set[Position], topic_ids: Collection[bytes]) -> set[Position]:
    return {position for position in positions if position[0] in topic_ids}


def _wanted(member: ShareMember, topics: Topics) -> set[Position]:
    return {
        (topics[name][0], partition)
        for name in member.subscription.names
        if name in topics
        for partition in range(topics[name][1])
    }
