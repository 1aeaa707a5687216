"""The state of owners compared with that of the shared store, which is replayed beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.timeline import LATEST
from coordinator_server.runtime.context import ShardState
from protocol.coordinator_records import GROUP_SERDE
from protocol.record_batch import iter_records, read_header
from tests.simulation.mirror import Image, LogRecord

if TYPE_CHECKING:
    from tests.simulation.nodes_play import NodesPlay


class StoreMirror:
    """State machines that are fed from the store alone: an owner's state is theirs. A Mirror of all shards."""

    def __init__(self, play: NodesPlay) -> None:
        self._play = play
        self._images: dict[ShardId, tuple[Image, int]] = {}
        self._checked_us = self._written_us = -1
        self._written: list[LogRecord] = []

    def logs(self) -> Iterator[Sequence[bytes]]:
        """The batches of each shard of groups."""
        for shard, kept in self._play.database.shards.items():
            if shard.topic == GROUPS.topic:
                yield kept.batches

    def written(self) -> Iterator[LogRecord]:
        """Every record of the log of groups, but for the markers of transactions. It is read once in a moment."""
        if self._written_us != self._play.world.now_us:
            self._written_us, self._written = self._play.world.now_us, list(self._read())
        return iter(self._written)

    def _read(self) -> Iterator[LogRecord]:
        for shard, kept in self._play.database.shards.items():
            for batch in kept.batches if shard.topic == GROUPS.topic else ():
                header = read_header(batch)
                for found in () if header.is_control else iter_records(batch, 0, header):
                    record = GROUP_SERDE.decode(found.key, found.value)
                    assert record is not None
                    yield LogRecord(shard, found.offset, record, None)

    def check(self) -> None:
        """Compare the state of owners that have heard of all that is durable, once in a moment."""
        if self._checked_us == self._play.world.now_us:
            return
        self._checked_us = self._play.world.now_us
        for shard, kept in self._play.database.shards.items():
            process = self._play.serving(shard)
            if process is None or not kept.batches:
                continue
            context = process.daemon.rooms.hosting.node.runtimes[shard.topic]._contexts.get(shard.partition)
            if context is None or context.state is not ShardState.ACTIVE or context.high_watermark != kept.end:
                continue
            image = self._image(shard, kept.batches)
            found, expected = (
                each.digest(offset, LATEST, True)
                for each, offset in ((context.shard, kept.end), (image.shard, image.next_offset))
            )
            if found != expected:
                self._play.broken.append(f"{shard}: the state's digest is {found}, that of its log {expected}")

    def check_times(self) -> None:
        """Clocks jump; a batch is no earlier than the one before it."""
        for shard, kept in self._play.database.shards.items():
            latest_ms = 0
            for header in map(read_header, kept.batches):
                if header.max_timestamp < latest_ms:
                    self._play.broken.append(f"{shard}: the batch at {header.base_offset} goes back in time")
                latest_ms = header.max_timestamp

    def _image(self, shard: ShardId, batches: list[bytes]) -> Image:
        image, count = self._images.get(shard) or (Image(self._play.machines[0], shard), 0)
        for batch in batches[count:]:
            image.replay(batch)
        self._images[shard] = image, len(batches)
        return image
