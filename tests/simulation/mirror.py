"""A second state machine beside each of the server's, fed from the log alone: it has to come to the same state.

Whatever has once been read from the log as durable has to be there as long as the log is, whatever happens to the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from coordinator_server.group.classic.state import STABLE
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS, KINDS, partition_counts
from coordinator_server.log.file_names import layer_offsets
from coordinator_server.log.shards import ShardId
from coordinator_server.log.write.frames import FRAME_BYTES, decode_entries
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.provenance import Provenance, read_provenance
from coordinator_server.machine.shard import CoordinatorShard
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.loader import replay_batch
from coordinator_server.runtime.services import following
from coordinator_server.server.hosting.builders import BUILDERS, Materials
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.record_batch import iter_batches, iter_records, read_header
from tests.simulation.machine import Clock, Machine, Process
from tests.simulation.world import MS
from tests.support.group import hard_state

EVERY_US: Final = 700 * MS


class LogRecord(NamedTuple):
    """A record of the log. ``provenance`` is that of the operation that it begins, if it begins one."""

    shard: ShardId
    offset: int
    record: CoordinatorRecord
    provenance: Provenance | None


class NoTimer:
    """Nothing in a mirror happens by itself."""

    def schedule(self, key: Hashable, delay_ms: int, operation: Callable[[], Any], /, retry_ms: int = 0) -> None: ...

    def cancel(self, key: Hashable, /) -> None: ...

    def heard(self, key: Hashable, /) -> None: ...

    def is_scheduled(self, key: Hashable, /) -> bool:
        return False

    def left_ms(self, key: Hashable, /) -> int | None:
        return None


class Image:
    """One shard, from its log: of whatever kind, as the server builds it."""

    def __init__(self, machine: Machine, id: ShardId) -> None:
        builder = BUILDERS[id.topic]
        self.registry = SnapshotRegistry()
        self.next_offset = 0
        self.open: dict[int, int] = {}
        """The first offset of each transaction without a marker, by producer."""
        self._serde = KINDS[id.topic].serde
        build = builder.shard(Materials(machine.config, Clock(machine), _no_uuid))
        self.shard: Any = build(partition=id.partition, registry=self.registry, services=following(NoTimer()))

    def replay(self, batch: bytes) -> None:
        self.registry.snapshot(self.next_offset)
        replay_batch(batch, self._serde, self.shard)
        header = read_header(batch)
        if header.is_control:
            self.open.pop(header.producer_id, None)
        elif header.is_transactional:
            self.open.setdefault(header.producer_id, header.base_offset)
        self.next_offset = header.next_offset
        self.registry.delete_up_to(self.next_offset)


def _digest(shard: CoordinatorShard, offset: int) -> StateDigest | None:
    return shard.digest(offset, LATEST, True)


def _no_uuid() -> NoReturn:
    raise AssertionError("a mirror makes no ids")


class Mirror:
    """Looks at the server's state every now and then, and at every start. ``broken`` is told what is not as it should be.

    A server of several loops has one for each, which knows the partitions that its loop ``owns``.
    """

    def __init__(self, machine: Machine, broken: Callable[[str], None], owns: Callable[[ShardId], bool] = lambda _: True) -> None:
        self._machine = machine
        self._broken = broken
        self.every_us = EVERY_US
        self._process: Process | None = None
        self._images: dict[ShardId, Image] = {}
        self.batches: dict[ShardId, list[bytes]] = {
            ShardId(topic, partition): []
            for topic, count in partition_counts(machine.config.log).items()
            for partition in range(count)
            if owns(ShardId(topic, partition))
        }

    def watch(self) -> None:
        """From now on, until the world ends."""
        self.check()
        self._machine.world.after(self.every_us, self.watch)

    def journaled(self, process: Process, frame: bytes) -> None:
        """The journal has taken a frame; whoever waits for it is about to be told."""
        if process is not self._process:
            self._process = process
            self._begin(process)
        for entry in decode_entries(frame[FRAME_BYTES:]):
            image = self._images.get(entry.shard)
            for position, header in iter_batches(entry.data) if image is not None else ():
                assert image is not None
                batch = entry.data[position : position + header.size]
                self.batches[entry.shard].append(batch)
                image.replay(batch)

    def check(self) -> None:
        """Compare what is durable now."""
        process = self._machine.serving
        if process is None:
            return
        if process is not self._process:
            self._process = process
            self._begin(process)
        for shard in self.batches:
            self._compare(process, shard)

    def check_all(self) -> None:
        """Compare everything, with a mirror that is new."""
        process = self._machine.serving
        if process is None:
            self._broken("the server does not run")
            return
        self._process = None
        before = {shard: len(batches) for shard, batches in self.batches.items()}
        self.check()
        if before != {shard: len(batches) for shard, batches in self.batches.items()}:
            self._broken("the log has something that was never said to be durable")
        if not process.daemon.rooms.services.flusher.is_idle:
            self._broken("something is still being written")
            return
        self._check_times()
        for shard, image in self._images.items():
            if shard.topic != GROUPS.topic:
                continue
            found, expected = hard_state(self._shard(process, shard)), hard_state(image.shard)
            if found != expected:
                self._broken(f"{shard}: the state is {found}, the log says {expected}")
            self._check_living(self._shard(process, shard))

    def logs(self) -> Iterator[Sequence[bytes]]:
        """The batches of each shard of groups."""
        for shard, batches in self.batches.items():
            if shard.topic == GROUPS.topic:
                yield batches

    def written(self) -> Iterator[LogRecord]:
        """Every record that has been seen in the log of groups."""
        for shard, batches in self.batches.items():
            for batch in batches if shard.topic == GROUPS.topic else ():
                for position, header in iter_batches(batch):
                    for found in iter_records(batch, position, header):
                        record = GROUP_SERDE.decode(found.key, found.value)
                        assert record is not None
                        yield LogRecord(shard, found.offset, record, read_provenance(found.headers))

    def _begin(self, process: Process) -> None:
        """All of the log is read, and what is new in it was on its way when the process before this one ended."""
        disk = self._machine.disk
        faults, disk._faults = disk._faults, []
        self._read(process)
        disk._faults = faults

    def _read(self, process: Process) -> None:
        for shard, known in self.batches.items():
            # A layer stands for what is before it; the state is compared with the replay of all that ever was there.
            begin = max(layer_offsets(Path(self._machine.data_dir, str(shard))), default=0)
            before = [batch for batch in known if read_header(batch).base_offset < begin]
            found = list(process.daemon.rooms.store.read(shard, begin))
            if found[: len(known) - len(before)] != known[len(before) :]:
                self._broken(f"{shard}: what was durable is not there any more, after offset {begin}")
            self.batches[shard] = [*before, *found]
            image = self._images[shard] = Image(self._machine, shard)
            for batch in self.batches[shard]:
                image.replay(batch)

    def _compare(self, process: Process, shard: ShardId) -> None:
        runtime, image = process.daemon.rooms.hosting.node.runtimes[shard.topic], self._images[shard]
        states = {each.shard: each.state for each in runtime.progress}
        if states.get(shard) is not ShardState.ACTIVE:
            # A kind that begins to be used loads while the server serves, and has written nothing before.
            is_to_come = not KINDS[shard.topic].is_permanent and states.get(shard) in (None, ShardState.LOADING)
            if not is_to_come or image.next_offset:
                self._broken(f"{shard} is not active")
            return
        found = runtime.read(shard.partition, _digest)
        expected = _digest(image.shard, image.next_offset)
        if found != expected:
            self._broken(f"{shard}: the state's digest is {found}, that of its log {expected}")
        stable = runtime.last_stable_offset(shard.partition)
        if stable != min(image.open.values(), default=image.next_offset):
            self._broken(f"{shard}: the last stable offset is {stable}, in the log transactions begin at {image.open}")

    def _check_times(self) -> None:
        """Clocks jump; a batch is no earlier than the one before it."""
        for shard, batches in self.batches.items():
            latest_ms = 0
            for header in map(read_header, batches):
                back_ms = latest_ms - header.max_timestamp
                if back_ms > 0:
                    self._broken(f"{shard}: the batch at {header.base_offset} is {back_ms} ms back in time")
                latest_ms = header.max_timestamp

    def _shard(self, process: Process, shard: ShardId) -> GroupShard:
        return process.daemon.rooms.hosting.node.groups._contexts[shard.partition].shard

    def _check_living(self, shard: GroupShard) -> None:
        """A group that is stable is what its record says."""
        for group_id, stored in shard.groups.classic.stored.items():
            group = shard.groups.classic.living(group_id)
            if group is None or group.state is not STABLE:
                continue
            members = {member.member_id: member.assignment for member in group.members.values()}
            recorded = {member.member_id: member.assignment for member in stored.value.members}
            if (group.generation_id, members) != (stored.value.generation, recorded):
                self._broken(f"group {group_id} is {group.generation_id} {members}, its record {stored.value}")
