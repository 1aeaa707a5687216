"""Logs of share state replayed from their bytes are what they are when every record is decoded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.runtime.loader import BatchReplay, replay_batch
from coordinator_server.share.shard import ShareShard
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import SHARE_SERDE, CoordinatorRecord
from protocol.messages import share_records
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.record_batch import Record

RecordHeaders = tuple[tuple[str, bytes | None], ...]

int32s = st.integers(-(1 << 31), (1 << 31) - 1)
int64s = st.one_of(st.integers(-1, 300), st.integers(-(1 << 63), (1 << 63) - 1))
# Of one batch the largest number that takes a varint of one byte, and more.
batches = st.one_of(
    st.lists(
        st.builds(
            share_records.StateBatch, st.integers(0, 300), st.integers(0, 300), st.sampled_from((0, 2, 4)), st.integers(1, 9)
        ),
        max_size=3,
    ),
    st.integers(125, 130).map(lambda count: [share_records.StateBatch(2 * each, 2 * each, 2, 1) for each in range(count)]),
)
keys = st.tuples(
    st.one_of(st.sampled_from(("g", "h")), st.text(max_size=70)), st.binary(min_size=16, max_size=16), st.integers(0, 2)
)
snapshots = st.builds(
    ShareSnapshotValue,
    snapshot_epoch=int32s,
    state_epoch=int32s,
    leader_epoch=int32s,
    start_offset=int64s,
    delivery_complete_count=st.one_of(st.just(-1), int32s),
    create_timestamp=int64s,
    write_timestamp=int64s,
    state_batches=batches,
)
updates = st.builds(ShareUpdateValue, leader_epoch=st.integers(0, 3), start_offset=st.integers(-1, 9), state_batches=batches)
records = st.one_of(
    st.builds(lambda key, value: CoordinatorRecord(ShareSnapshotKey(*key), value), keys, snapshots),
    st.builds(lambda key, value: CoordinatorRecord(ShareSnapshotKey(*key), value), keys, st.one_of(snapshots, st.none())),
    st.builds(lambda key, value: CoordinatorRecord(ShareUpdateKey(*key), value), keys, updates),
)
# Neighbours of equal size, as a compacted log has them; past 63 records the offset delta takes two bytes.
runs = st.builds(
    lambda group, count, epoch, few, odd: [
        CoordinatorRecord(
            ShareSnapshotKey(group, b"0123456789abcdef", number if number != odd else 0),
            ShareSnapshotValue(epoch, 1, 1, number, number % 2 - 1 if odd == 3 else 5, 9, 9, few),
        )
        for number in range(count)
    ],
    st.sampled_from(("g", "h", "long" * 10)),
    st.integers(1, 90),
    st.integers(0, 2),
    st.lists(st.just(share_records.StateBatch(1, 2, 2, 1)), max_size=10),
    st.integers(-1, 20),
)
logs = st.lists(st.one_of(records.map(lambda record: [record]), runs), min_size=1, max_size=6).map(
    lambda parts: [record for part in parts for record in part]
)
some_headers: st.SearchStrategy[RecordHeaders] = st.sampled_from(((), (("api", b"83"), ("why", b"x" * 200))))
# Between neighbours in a layer: varints of one to three bytes, and a clock that was set back.
gaps, steps_ms = st.sampled_from((1, 3, 200)), st.sampled_from((0, 0, 1, 40, 9_000, -5))


@given(logs, some_headers, gaps, steps_ms, st.data())
def test_a_batch_is_replayed_as_record_by_record(
    log: list[CoordinatorRecord], headers: RecordHeaders, gap: int, step_ms: int, data: st.DataObject
) -> None:
    """And a batch that is cut or damaged is refused as it is there."""
    known = [CoordinatorRecord(ShareSnapshotKey("g", log[0].key.topic_id, 0), ShareSnapshotValue(5, 5, 5))]  # type: ignore[attr-defined]
    batch = BatchBuilder(7, 1_700_000_000_000)
    for number, record in enumerate([*known, *log, *log[:2]]):
        own = headers if number % 7 == 0 or gap == 3 else ()
        key, value = SHARE_SERDE.encode_key(record), SHARE_SERDE.encode_value(record)
        batch.append_record(Record(7 + number * gap, 1_700_000_000_000 + number * step_ms, key, value, own))
    written = batch.finish()

    fast, slow = ShareShard(registry=SnapshotRegistry()), ShareShard(registry=SnapshotRegistry())
    assert BatchReplay(SHARE_SERDE, fast).replay(written) == replay_batch(written, SHARE_SERDE, slow)
    assert dict(fast.share_partitions(LATEST)) == dict(slow.share_partitions(LATEST))
    assert fast.digest(LATEST) == slow.digest(LATEST)

    if len(written) > 61:
        place = data.draw(st.integers(61, len(written) - 1))
        changed = written[:place] + bytes([data.draw(st.integers(0, 255))]) + written[place + 1 :]
        assert outcome(changed, is_fast=True) == outcome(changed, is_fast=False)


def outcome(batch: bytes, *, is_fast: bool) -> object:
    """The states after a batch, or that it was refused."""
    shard = ShareShard(registry=SnapshotRegistry())
    try:
        if is_fast:
            BatchReplay(SHARE_SERDE, shard).replay(batch)
        else:
            replay_batch(batch, SHARE_SERDE, shard)
        return dict(shard.share_partitions(LATEST))
    except Exception as refused:  # noqa: BLE001 - whatever the decoders raise
        return type(refused).__mro__[-4:]
