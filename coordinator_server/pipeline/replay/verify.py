"""The proof that nothing was lost: the state of a shard is built in up to three ways, and all must have the same digest.

    full       from every record since the beginning, or since the oldest layer if segments have been removed
    compacted  from the newest layer and the segments after it: what a start reads
    live       the state of the running server as of the same offset

The log of a directory that follows a cluster is compared with the cluster's answers, too (``beside_cluster.py``).

If digests differ, the states are compared part by part (groups, topics …) and key by key. The first differences are returned, with
both values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.log.jobs import InputFile, Layer
from coordinator_server.log.opening import job_shard, job_shards
from coordinator_server.machine.digest import FORMAT
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.files import read_batches, stands_for_lost
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.beside_cluster import Asked, compared
from coordinator_server.pipeline.rules import rule_of
from coordinator_server.pipeline.states.state import State, replay_into

MOST_DIFFERENCES: Final = 20


class Check(Struct, frozen=True):
    """A shard to verify at an offset, with the digests of the server at that offset.

    Of a shard that follows a cluster's: with what the cluster said before and after.
    """

    directory: str
    upto: int
    live: str | None = None
    live_parts: dict[str, str] = {}
    asked: Asked | None = None


class Verdict(Struct, frozen=True):
    """The result for a shard. ``count`` is its number of groups, topics or whatever ``noun`` says.

    ``history_from`` is the offset before which the history has only a layer; 0 if no segment was removed. ``compared`` is the
    number of offsets and other things that were compared with the answers of the cluster that is followed; None if none was asked.
    """

    shard: str
    offset: int
    records: int
    noun: str
    count: int
    full: str
    compacted: str
    live: str | None
    history_from: int
    differences: tuple[str, ...] = ()
    compared: int | None = None

    @property
    def is_proven(self) -> bool:
        return not self.differences


# Runs checks, in any order and any process. Raises if one of them fails.
Runner = Callable[[Sequence[Check], Progress], Iterable[Verdict]]


def checks(
    data_dir: Path,
    live: Mapping[str, Mapping[str, Any]] | None,
    ends: Mapping[str, int],
    asked: Mapping[str, Asked] = {},
) -> list[Check]:
    """Return a check for every shard that has records. ``live`` is the server's ``digest`` answer; it is older than ``ends``.

    ``asked`` are the answers of a cluster around ``ends``, by shard.
    """
    found = []
    for shard in job_shards(data_dir):
        if not ends.get(shard.name):
            continue
        answer = live.get(shard.name) if live is not None else None
        if answer is None:
            found.append(Check(shard.place, ends[shard.name], asked=asked.get(shard.name)))
        else:
            found.append(Check(shard.place, answer["offset"], answer["digest"], answer.get("parts", {})))
    return found


def digests_of_server(answer: Mapping[str, Any] | None) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the shards of a server's ``digest`` answer; None without an answer.

    Raises CannotRun if its digests have another format.
    """
    if answer is None:
        return None
    if answer["format"] != FORMAT:
        raise CannotRun(
            f"the server sends digests of format {answer['format']}, and this is of format {FORMAT}: they cannot be compared. "
            "Run the verify of the server's own release, or stop the server: then the log alone is proven"
        )
    shards: Mapping[str, Mapping[str, Any]] = answer["shards"]
    return shards


def run_here(todo: Sequence[Check], progress: Progress) -> Iterator[Verdict]:
    """Verify the shards in this process, one after the other."""
    records = 0
    for done, check in enumerate(todo, 1):
        verdict = verify_shard(check)
        records += verdict.records
        progress.advance(done, records)
        yield verdict


def work(check: Check) -> tuple[bytes, int]:
    """Do ``verify_shard`` for a Spark task. Return the encoded verdict and the number of records."""
    verdict = verify_shard(check)
    return msgspec.json.encode(verdict), verdict.records


def verify_shard(check: Check) -> Verdict:
    """Replay the full and the compacted log, and compare. Raises DamagedLog."""
    shard = job_shard(check.directory)
    rule = rule_of(shard.name)
    layer, whole = shard.whole(check.upto)
    counted = _Counted(check.upto, layer)
    full = replay_into(rule.state(), counted.batches(whole), check.upto)
    behind = shard.behind_loss(counted.lost_to, check.upto) if counted.lost_to else None
    if behind is not None:
        layer, whole = behind
        full = replay_into(rule.state(), _Counted(check.upto).batches(whole), check.upto)
    compacted = replay_into(rule.state(), _Counted(check.upto).batches(shard.compacted(check.upto)[1]), check.upto)
    beside = None if check.asked is None else compared(compacted.shown(None, {})["groups"], check.asked)
    return Verdict(
        shard.name,
        check.upto,
        counted.records,
        full.noun,
        len(full),
        full.digest().digest,
        compacted.digest().digest,
        check.live,
        0 if layer is None else layer.to_offset,
        tuple(islice(chain(_differences(full, compacted, check), beside.differences if beside else ()), MOST_DIFFERENCES)),
        None if beside is None else beside.compared,
    )


class _Counted:
    """Reads the batches of files and counts their records. Before ``lost_to`` some are missing since a salvage; 0 if none is."""

    def __init__(self, upto: int, layer: Layer | None = None) -> None:
        self.records = 0
        self.lost_to = 0
        self._upto = upto
        self._layer = layer

    def batches(self, files: Iterable[InputFile]) -> Iterator[bytes]:
        for file in files:
            for data, position, header in read_batches(file):
                if header.base_offset >= self._upto:
                    return
                self.records += header.count
                if stands_for_lost(header, self._layer):
                    self.lost_to = header.next_offset
                yield data[position : position + header.size]


def _differences(full: State, compacted: State, check: Check) -> Iterator[str]:
    found, ours = full.digest(), compacted.digest()
    if found.digest != ours.digest:
        differences = _of_contents(full.contents(), compacted.contents())
        first = next(differences, None)
        # The contents lack some of what is digested: open transactions, for one.
        yield from _of_parts(full, found.parts, ours.parts) if first is None else chain((first,), differences)
    if check.live is not None and check.live != ours.digest:
        yield from _of_server(compacted, ours.parts, check.live_parts)


def _of_contents(full: Mapping[str, Mapping[str, Any]], compacted: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Compare part by part, key by key. A difference has the full history's value, then that of layer and tail."""
    for part in sorted({*full, *compacted}):
        ours, theirs = full.get(part, {}), compacted.get(part, {})
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                yield f"{part}: {key}: {_as_text(ours.get(key))} in the full history, {_as_text(theirs.get(key))} in layer and tail"


def _of_parts(state: State, full: Mapping[str, str], compacted: Mapping[str, str]) -> Iterator[str]:
    differing = [part for part in sorted({*full, *compacted}) if full.get(part) != compacted.get(part)]
    for part in differing:
        ours, theirs = full.get(part, "none"), compacted.get(part, "none")
        yield f"{state.label(part)}: digest {ours} in the full history, {theirs} in layer and tail"
    if not differing:
        yield "the digests differ, and those of all parts do not"


def _of_server(state: State, log: Mapping[str, str], live: Mapping[str, str]) -> Iterator[str]:
    differing = [part for part in sorted({*log, *live}) if log.get(part) != live.get(part)] if live else []
    for part in differing:
        ours, theirs = log.get(part, "none"), live.get(part, "none")
        yield f"{state.label(part)}: digest {ours} in the log, {theirs} in the server"
    if not differing:
        yield "the server's digest differs, and it does not say of which part"


def _as_text(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()
