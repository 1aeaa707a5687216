"""What is known of the shards of an observed directory beside their logs: a cache of what the batches' headers say, and a history
of what was set aside.

It is the file ``observed.json``. If it is missing or older than the log, the headers are read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import OBSERVED_FACTS
from coordinator_server.log.storage import LOCAL, Storage, read_file, replace_file
from coordinator_server.observe.epochs import EpochStarts
from protocol.record_batch import BatchHeader

FORMAT: Final = 1


class ShardFacts(Struct):
    """A shard, as its batches before ``upto`` say.

    ``missing`` offsets have no record: the cluster's cleaner had removed them before they were read, the last of them before
    ``missing_to``. ``last_epoch`` is that of the last batch; -1 if it represents removed ones, whose epochs are unknown.
    """

    upto: int = 0
    missing: int = 0
    missing_to: int = 0
    last_epoch: int = -1
    epochs: EpochStarts = msgspec.field(default_factory=EpochStarts)

    def add(self, headers: Iterable[BatchHeader]) -> bool:
        """Note batches that are appended. Return whether there is something that a later start should not have to look for."""
        is_changed = False
        for header in headers:
            is_gap = header.is_cleaned and not header.count
            if header.is_cleaned:
                self.missing += header.last_offset_delta + 1 - header.count
                self.missing_to = header.next_offset
                is_changed = True
            if not is_gap:
                is_changed |= self.epochs.add(header.leader_epoch, header.base_offset)
            self.last_epoch = -1 if is_gap else header.leader_epoch
            self.upto = header.next_offset
        return is_changed


class SetAside(Struct, frozen=True):
    """Batches that were taken out of the log of a shard, from ``begin`` up to ``end``: where they are, when and why."""

    shard: str
    begin: int
    end: int
    name: str
    at_ms: int
    why: str


class Facts(Struct):
    """What is known of a directory. ``topic_ids`` are those of the cluster's internal topics, as text."""

    format: int = FORMAT
    topic_ids: dict[str, str] = {}
    shards: dict[str, ShardFacts] = {}
    set_aside: list[SetAside] = []


def read_facts(data_dir: Path, storage: Storage = LOCAL) -> Facts:
    """Return what is known of a directory. Raises LogError."""
    path = f"{data_dir}/{OBSERVED_FACTS}"
    if not storage.exists(path):
        return Facts()
    try:
        facts = msgspec.json.decode(read_file(storage, path), type=Facts)
    except msgspec.DecodeError as error:
        raise LogError(f"{path} cannot be read ({error}): move it away, and it is made again from the log") from error
    if facts.format != FORMAT:
        raise LogError(f"{path} has format {facts.format}, and this version knows {FORMAT}: move it away, or use that version")
    return facts


def write_facts(data_dir: Path, facts: Facts, storage: Storage = LOCAL) -> None:
    """Replace the file."""
    replace_file(storage, f"{data_dir}/{OBSERVED_FACTS}", msgspec.json.encode(facts, order="sorted") + b"\n")
