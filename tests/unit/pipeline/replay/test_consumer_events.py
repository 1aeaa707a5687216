"""The timeline of a consumer group (KIP-848): epochs, steps of members, who waits for whom, and when it settles."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator_server.cli.group_words import event_line
from coordinator_server.machine.provenance import Attribution, Reason, because, operation_headers, request_origin
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, NO_NAMES, TopicNames
from coordinator_server.pipeline.replay.group_events import Client, Event
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.replay.group_timeline import events, group_at
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, CoordinatorRecord
from protocol.fields import uuid_text
from protocol.messages.cluster_metadata import TopicRecord
from protocol.record_batch import Record, read_headers
from tests.support.classic_members import ClassicMember, assignment
from tests.support.consumer_records import (
    ORDERS,
    UNREVOKED,
    Pair,
    current,
    group_epoch,
    left,
    member,
    pair,
    rebalance,
    target,
    target_epoch,
)
from tests.support.heartbeats import Beats
from tests.support.inputs import SealedShard
from tests.support.segments import START_MS, Batch, group_key, group_value, write_meta, write_segments
from tests.support.share_group_records import share_epoch, share_gone, shared_work
from tests.support.streams_beats import streams_life

GROUP = "g"
END = 1000
COMMIT = request_origin(8, 9, "orders-app", "10.0.0.7", "User:jo")


def log_of(tmp_path: Path, *operations: list[Pair], by: Attribution | None = None) -> Path:
    """The shard's directory. Each operation is a second after the one before; the catalog has ``orders``."""
    offset, batches = 0, []
    encoded = b"" if by is None else operation_headers(COMMIT, by)
    headers = read_headers(encoded, 0, len(encoded))[0] if encoded else ()
    for number, pairs in enumerate(operations):
        made = [
            Record(offset + index, START_MS + 1000 * number, *each, headers if index == 0 else ())
            for index, each in enumerate(pairs)
        ]
        batches.append(Batch(tuple(made)))
        offset += len(pairs)
    write_segments(tmp_path / "__consumer_offsets-3", batches)
    topic = CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(TopicRecord("orders", ORDERS), None))
    write_segments(tmp_path / CATALOG_SHARD, [Batch((Record(0, START_MS, None, topic),))])
    write_meta(tmp_path)
    return tmp_path / "__consumer_offsets-3"


def told(shard: Path, names: TopicNames | None = None, *, of: str = " of client of [a-z] at 10.0.0.7") -> list[str]:
    """The lines that ``groups why`` prints, without their times, and without the clients of members."""
    found = events(SealedShard(shard), GroupLedger(GROUP, names or TopicNames(shard.parent, 1)), END)
    return [re.sub(of or "$^", "", event_line(each).partition("Z  ")[2]) for each in found]


def test_a_rebalance_is_told_member_by_member(tmp_path: Path) -> None:
    """Who gives up what, who waits for whom, and how long all of it took."""
    assert told(log_of(tmp_path, *rebalance(GROUP))) == [
        "epoch 2, 1 member: a joined (derived)",
        "a in epoch 2: gets orders-0, orders-1",
        "settled in epoch 2 after 0.0 s",
        "epoch 3, 2 members: b joined (derived)",
        "b in epoch 3: waits for a to give up orders-1",
        "a in epoch 2: must give up orders-1",
        "a in epoch 3: has given up orders-1",
        "b in epoch 3: gets orders-1",
        "settled in epoch 3 after 3.0 s",
        "a is gone, orders-0 is free",
        "epoch 4, 1 member: a left, or timed out (derived)",
    ]


def test_the_members_of_a_share_group(tmp_path: Path) -> None:
    """They have the same partitions, so none waits, and what one leaves is free if no other has it.

    Share partitions come and go.
    """
    assert told(log_of(tmp_path, *shared_work(GROUP), share_gone(GROUP, "b"), [share_epoch(GROUP, None)])) == [
        "epoch 1, 1 member: a joined (derived)",
        "target of epoch 1 after 1.0 s",
        "a in epoch 1: gets orders-0, orders-1",
        "settled in epoch 1 after 1.0 s",
        "initializes share partitions orders-0, orders-1",
        "share partitions orders-0, orders-1 are initialized",
        "epoch 2, 2 members: b joined (derived)",
        "b in epoch 2: gets orders-1",
        "a in epoch 2",
        "settled in epoch 2 after 1.0 s",
        "a is gone, orders-0 is free",
        "epoch 3, 1 member: a left, or timed out (derived)",
        "target of epoch 3 after 1.0 s",
        "b in epoch 3",
        "settled in epoch 3 after 1.0 s",
        "deletes the share partitions of orders",
        "b is gone, orders-1 is free",
        "deleted",
    ]


def test_the_members_of_a_streams_group(tmp_path: Path) -> None:
    """Tasks take the place of partitions. That nobody waits for them is not said, because it is not followed."""
    assert told(log_of(tmp_path, *streams_life()), of=" of client at 127.0.0.1") == [
        "epoch 2, 1 member: a joined (derived)",
        "a in epoch 2: gets task 0-0, task 0-1",
        "settled in epoch 2 after 0.0 s",
        "epoch 3, 2 members: b joined (derived)",
        "b in epoch 3: gets standby task 0-0",
        "a in epoch 2: must give up task 0-1",
        "b in epoch 3",
        "a in epoch 3: has given up task 0-1",
        "b in epoch 3: gets task 0-1",
        "a in epoch 3: gets standby task 0-1",
        "settled in epoch 3 after 5.0 s",
        "b is gone, standby task 0-0, task 0-1 are free",
        "epoch 4, 1 member: b left, or timed out (derived)",
    ]


def test_topics_that_the_catalog_does_not_know_have_their_id(tmp_path: Path) -> None:
    line = told(log_of(tmp_path, rebalance(GROUP)[0]), NO_NAMES)[1]

    assert line == "a in epoch 2: gets AAECAwQFBgcICQoLDA0ODw-0, AAECAwQFBgcICQoLDA0ODw-1"


def test_an_epoch_has_its_cause_and_the_client_behind_it(tmp_path: Path) -> None:
    spoken = speaking_for("a", None)
    assert spoken is not None
    shard = log_of(
        tmp_path, [member(GROUP, "a"), group_epoch(GROUP, 2)], by=spoken.followed_by(because(Reason("member-joined", "a")))
    )

    assert told(shard, of="") == [
        "epoch 2, 1 member: a of client of a at 10.0.0.7 joined (OffsetCommit v9 of a of orders-app at 10.0.0.7 as User:jo)"
    ]


def test_members_are_told_with_their_clients(tmp_path: Path) -> None:
    """Ids of the consumer protocol say nothing to people.

    The answer has the clients, too; those of members that have left as well.
    """
    shard = log_of(tmp_path, *rebalance(GROUP))

    lines = told(shard, of="")
    found = list(events(SealedShard(shard), GroupLedger(GROUP), END))

    assert lines[4] == "b of client of b at 10.0.0.7 in epoch 3: waits for a of client of a at 10.0.0.7 to give up orders-1"
    assert lines[9] == "a of client of a at 10.0.0.7 is gone, orders-0 is free"
    assert found[4].clients == {each: Client(f"client of {each}", "10.0.0.7") for each in "ab"}


def test_the_events_of_the_last_member_and_the_deletion_of_a_group(tmp_path: Path) -> None:
    """Its last member, and the group itself."""
    shard = log_of(
        tmp_path,
        rebalance(GROUP)[0],
        [left(GROUP, "a"), target(GROUP, "a", None), member(GROUP, "a", None), group_epoch(GROUP, 3)],
        [group_epoch(GROUP, None)],
    )

    assert told(shard)[3:] == [
        "a is gone, orders-0, orders-1 are free",
        "epoch 3, empty: a left, or timed out (derived)",
        "deleted",
    ]


def test_a_static_member_that_is_away(tmp_path: Path) -> None:
    """It keeps its partitions."""
    shard = log_of(tmp_path, rebalance(GROUP)[0], [current(GROUP, "a", -2, {ORDERS: [0, 1]})])

    assert told(shard)[3:] == ["a is away"]


def test_a_target_that_is_computed_later(tmp_path: Path) -> None:
    """After the assignment interval. Otherwise it belongs to its epoch."""
    shard = log_of(tmp_path, [member(GROUP, "a"), group_epoch(GROUP, 2)], [target_epoch(GROUP, 2)])

    assert told(shard) == ["epoch 2, 1 member: a joined (derived)", "target of epoch 2 after 1.0 s"]


def test_conversions_between_the_protocols(tmp_path: Path) -> None:
    """The deletion of the one kind of records and the first of the other, in one operation, are a conversion."""
    shard = log_of(
        tmp_path,
        [(group_key(GROUP), group_value(1, ["c"]))],
        [(group_key(GROUP), None), member(GROUP, "c"), group_epoch(GROUP, 1), current(GROUP, "c", 1, {ORDERS: [0]})],
        [left(GROUP, "c"), group_epoch(GROUP, None), (group_key(GROUP), group_value(2, ["c"]))],
        [(group_key(GROUP), None)],
        [member(GROUP, "d"), group_epoch(GROUP, 2)],
    )

    found = events(SealedShard(shard), GroupLedger(GROUP), END)

    assert [each.what for each in found] == [
        "generation",
        "converted to the consumer protocol",
        "epoch",
        "step",
        "settled",
        "left",
        "converted to the classic protocol",
        "generation",
        "deleted",
        "epoch",
    ]


def test_a_classic_group_that_a_member_of_the_consumer_protocol_joins(tmp_path: Path) -> None:
    """As this server converts it."""
    beats = Beats(t=4)
    first = ClassicMember(beats)
    first.join()
    first.sync((first, assignment({"t": [0, 1, 2, 3]})))
    beats.taken()
    classic = list(beats.log.committed)
    beats.member("m").join()
    operations = [[pair(each.key, each.value, each.value_version) for each in records] for records in (classic, beats.records)]

    found = events(SealedShard(log_of(tmp_path, *operations)), GroupLedger(GROUP), END)

    last = [event_line(each).partition("Z  ")[2] for each in found][-6:]
    topic = uuid_text((1).to_bytes(16))
    assert last == [
        "converted to the consumer protocol",
        "epoch 1, 1 member: client-1 at 127.0.0.1 joined (derived)",
        f"{first.member_id} at 127.0.0.1 in epoch 1: gets {', '.join(f'{topic}-{number}' for number in range(4))}",
        "settled in epoch 1 after 0.0 s",
        "epoch 2, 2 members: m of client at 127.0.0.1 joined (derived)",
        f"m of client at 127.0.0.1 in epoch 2: waits for {first.member_id} at 127.0.0.1 to give up {topic}-2, {topic}-3",
    ]


def test_the_group_at_a_moment(tmp_path: Path) -> None:
    """Its epochs, and the assignment of each member."""
    shard = log_of(tmp_path, *rebalance(GROUP))

    then = group_at(SealedShard(shard), GROUP, START_MS + 2000, END, TopicNames(tmp_path, 1)).group

    assert then is not None
    assert (then.type, then.epoch, then.assignment_epoch, then.state) == ("consumer", 3, 3, "Reconciling")
    assert [(each.member_id, each.epoch, each.state, each.assignment, each.revoking) for each in then.members] == [
        ("a", 2, "UnrevokedPartitions", {"orders": [0]}, {"orders": [1]}),
        ("b", 3, "UnreleasedPartitions", {}, {}),
    ]


def test_an_event_has_the_fields_of_its_protocol_alone(tmp_path: Path) -> None:
    """An event of the one protocol has no fields of the other."""
    [first, second, *_] = events(
        SealedShard(log_of(tmp_path, rebalance(GROUP)[0], [current(GROUP, "a", 2, {ORDERS: [0]}, UNREVOKED)])),
        GroupLedger(GROUP),
        END,
    )

    assert first == Event(START_MS, "epoch", members=1, epoch=2, joined=("a",), clients=first.clients)
    assert second.member is not None
    assert (second.generation, second.member.gives_up, second.member.waits_for) == (None, (), ())
