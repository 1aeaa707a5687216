"""Processes that make layers of shards of a shared store, and remove the rows that these replace, as jobs and retention do.

Each is on a node and does one thing after another, by statements that take their time and may fail, and stands still between any
two of them for as long as others need for all of it: so a former one publishes and removes late. Of its answers it believes the
good ones only: it goes on whatever the others say, because what must not happen is for the statements to refuse.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import layer_path, segment_path
from coordinator_server.log.layers.layer import MANIFEST, open_layer
from coordinator_server.log.postgresql.layers import verify_all
from coordinator_server.log.shards import ShardId
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.progress import Progress
from protocol.record_batch import read_header
from tests.simulation.machine import Process
from tests.simulation.world import MS
from tests.support.node_log import tried
from tests.support.shared_layers import Attempt, Files, StoredLayer

if TYPE_CHECKING:
    from tests.simulation.nodes_play import NodesPlay
    from tests.simulation.played_nodes import Node
    from tests.support.shared_store import Database

EVERY_MS: Final = (0, 0, 0, 500, 1500, 4000)
"""How often at most one begins; 0 is never."""
WAITS_MS: Final = (1, 5, 50, 500, 3000)
"""How long one stands still at most between two statements."""
HELD: Final = 0.3
HELD_MS: Final = 8000
"""So many are held, and so long at most."""
KEPT: Final = 2
"""So many layers stay: a newer one supersedes the others."""
FILES_SLOWER: Final = 5
DAMAGED: Final = 0.2
"""So many attempts have files that are not as their manifest says."""
OLD_ENOUGH: Final = 4
"""A layer takes up at least so many batches."""


class Statement:
    """What a maker asks of the store. ``outcome`` is None when that failed. With files it takes longer than another one.

    After one that is ``held`` its maker stands still until another one has cleaned its shard, and then is quick.
    """

    def __init__(self, run: Callable[[], Any], *, has_files: bool = False, is_held: bool = False) -> None:
        self.run = run
        self.has_files = has_files
        self.is_held = is_held
        self.outcome: Any = None


class Maker:
    """One process."""

    def __init__(self, makers: LayerMakers, node: Node, process: Process, wait_ms: int) -> None:
        self._makers = makers
        self._node = node
        self._process = process
        self._wait_ms = wait_ms
        self._work = makers.work(self)
        self._statement: Statement | None = None

    def go_on(self, statement: Statement | None = None) -> None:
        """Ask the next thing, unless its node has ended: mostly it ends with that. ``statement`` is the last one."""
        if statement is not self._statement or (not self._process.is_alive and self._makers.rng.random() < 0.7):
            return
        self._statement = statement = next(self._work, None)
        if statement is not None:
            self._makers.world.after(self._wait_us(statement), partial(self._node.send, partial(self._run, statement)))

    def hurry(self) -> None:
        """Go on at once, and soon."""
        self._wait_ms = 1
        self.go_on(self._statement)

    def _run(self, statement: Statement) -> None:
        outcome: Any
        try:
            outcome = self._makers.database.run(lambda: tried(statement.run))
        except LogError as error:
            # It cannot tell what has happened.
            outcome = error
        statement.outcome = None if isinstance(outcome, LogError) else outcome
        wait_us = HELD_MS * MS if statement.is_held else self._wait_us(statement)
        self._makers.world.after(wait_us, partial(self.go_on, statement))

    def _wait_us(self, statement: Statement) -> int:
        return int(self._makers.rng.random() ** 3 * self._wait_ms * MS) * (FILES_SLOWER if statement.has_files else 1)


class LayerMakers:
    """All of a play, which has them from the start of its storm on: layers ``published``, and shards ``trimmed``."""

    def __init__(self, play: NodesPlay, rng: Random) -> None:
        self._play = play
        self.world = play.world
        self.rng = rng
        self.every_us = rng.choice(EVERY_MS) * MS
        self.wait_ms = rng.choice(WAITS_MS)
        self._attempts = 0
        self._held: dict[ShardId, list[Maker]] = {}
        self.published = self.trimmed = 0

    @property
    def database(self) -> Database:
        return self._play.database

    def begin(self) -> None:
        """Have one begin, again and again, until the calm."""
        if self.every_us and not self._play.is_calm:
            node = self.rng.choice(self._play.nodes)
            if node.process is not None:
                Maker(self, node, node.process, self.wait_ms).go_on()
            self.world.after(self.rng.randint(0, self.every_us), self.begin)

    def work(self, maker: Maker) -> Iterator[Statement]:
        """Claim, make a layer of one shard, publish it, read it back, and remove what it replaces."""
        rng, database = self.rng, self.database
        claimed = Statement(self._claim)
        yield claimed
        shard = self._any_shard()
        if claimed.outcome is None or shard is None:
            return
        term: int = claimed.outcome
        cleaned = Statement(partial(self._clean, term, shard))
        yield cleaned
        if cleaned.outcome:
            yield Statement(lambda: database.layers.remove_files(cleaned.outcome), has_files=True)
        read = Statement(lambda: self._read(shard))
        yield read
        if read.outcome is None:
            return
        to_offset, manifest, files = read.outcome
        self._attempts += 1
        attempt = Attempt(shard, f"{shard}:{self._attempts}", term)
        stored = {name: _damaged(content) for name, content in files.items()} if rng.random() < DAMAGED else files
        is_held = rng.random() < HELD
        if is_held:
            self._held.setdefault(shard, []).append(maker)
        yield Statement(lambda: database.layers.put(attempt, stored), has_files=True, is_held=is_held)
        yield Statement(lambda: database.layers.put_manifest(attempt, manifest))
        published = Statement(lambda: database.layers.publish(term, attempt, to_offset))
        yield published
        self.published += bool(published.outcome)
        found = Statement(lambda: self.intact(shard))
        yield found
        ends: list[int] = found.outcome or []
        trimmed = Statement(lambda: database.layers.trim(database, term, shard, to_offset, ends))
        yield trimmed
        self.trimmed += bool(trimmed.outcome)
        if older := ends[KEPT:]:
            removed = Statement(lambda: database.layers.supersede(term, shard, older))
            yield removed
            names = [each.attempt for each in removed.outcome or ()]
            gone = [each for each in database.layers.objects if each.name in names]
            yield Statement(lambda: database.layers.remove_files(gone), has_files=True)

    def _claim(self) -> int:
        return self.database.layers.claim()

    def _clean(self, term: int, shard: ShardId) -> list[Attempt]:
        gone = self.database.layers.clean(term, shard)
        for maker in self._held.pop(shard, []) if gone else []:
            self.world.after(0, maker.hurry)
        return gone

    def _any_shard(self) -> ShardId | None:
        """A shard that has something: mostly the same ones, so that several are at work on one."""
        if self._held and self.rng.random() < 0.7:
            return next(iter(self._held))
        used = sorted(shard for shard, kept in self.database.shards.items() if len(kept.batches) >= OLD_ENOUGH)
        return self.rng.choice(used[:2] if self.rng.random() < 0.5 else used) if used else None

    def _read(self, shard: ShardId) -> tuple[int, bytes, Files] | None:
        """What becomes a layer of a shard: the newest one that is intact, and rows after it. Return its end and its files."""
        kept = self.database.shards[shard]
        base = next(iter(self._intact(shard)), None)
        first = 0 if base is None else base[0].to_offset
        if first < kept.start:
            return None
        headers = [(read_header(batch), batch) for batch in kept.batches]
        after = [(header, batch) for header, batch in headers if header.base_offset >= first]
        if len(after) < OLD_ENOUGH:
            return None
        rows = after[: self.rng.randint(OLD_ENOUGH, len(after))]
        return rows[-1][0].next_offset, *made(shard, base, first, [batch for _, batch in rows])

    def intact(self, shard: ShardId) -> list[int]:
        """Read back the layers of a shard. Return the ends of those that are as their manifests state, the newest first."""
        return [stored.to_offset for stored, _ in self._intact(shard)]

    def _intact(self, shard: ShardId) -> Iterator[tuple[StoredLayer, Files]]:
        layers = self.database.layers
        for stored in layers.of(shard):
            files = layers.files(shard, stored)
            if files and _is_intact(shard, stored, files):
                yield stored, files


def _damaged(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1]) if content else content


def _is_intact(shard: ShardId, stored: StoredLayer, files: Files) -> bool:
    with tempfile.TemporaryDirectory(dir=_memory()) as directory:
        try:
            _write(Path(directory) / str(shard), stored.to_offset, stored.manifest, files)
            verify_all(open_layer(Path(directory) / str(shard), stored.to_offset))
        except DamagedLog:
            return False
    return True


def made(shard: ShardId, base: tuple[StoredLayer, Files] | None, first: int, batches: list[bytes]) -> tuple[bytes, Files]:
    """The manifest and the other files of a layer of an older one, and batches from the offset ``first`` on."""
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        directory = Path(name) / str(shard)
        directory.mkdir()
        if base is not None:
            _write(directory, base[0].to_offset, base[0].manifest, base[1])
        to_offset = read_header(batches[-1]).next_offset
        Path(segment_path(str(directory), first)).write_bytes(b"".join(batches))
        # The open segment: what is before it is sealed.
        Path(segment_path(str(directory), to_offset)).touch()
        compact(plans(Path(name), {str(shard): to_offset}), None, run_python, Progress())
        files = {path.name: path.read_bytes() for path in layer_path(directory, to_offset).iterdir()}
    return files.pop(MANIFEST), files


def _write(directory: Path, to_offset: int, manifest: bytes, files: Files) -> None:
    path = layer_path(directory, to_offset)
    path.mkdir(parents=True)
    for name, content in {**files, MANIFEST: manifest}.items():
        (path / name).write_bytes(content)


def _memory() -> str | None:
    """Where such files are in memory, where there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
