"""The proof that nothing was lost: the state of a shard, come by in up to three ways, must have one digest.

    full      every record since the beginning, or since the oldest layer where segments have been removed
    compacted the newest layer and the segments after it: what a start reads
    live      what the running server holds, as of the same offset

Where two digests differ the states are compared group by group and key by key, and the first differences are named with both values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.digest import FORMAT
from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.plan import Source, full_sources, is_of_groups, read_batches, shard_directories, sources
from coordinator_server.pipeline.replay import Group, digest_of, groups_of, replay_batches

MOST_DIFFERENCES: Final = 20


class Check(Struct, frozen=True):
    """One shard to be proven at an offset, with what the server says of it there."""

    directory: str
    upto: int
    live: str | None = None
    live_groups: dict[str, str] = {}


class Verdict(Struct, frozen=True):
    """What came of it. ``history_from``: the offset up to which only a layer is left of the history; 0 when all of it is there."""

    shard: str
    offset: int
    records: int
    groups: int
    full: str
    compacted: str
    live: str | None
    history_from: int
    differences: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        return not self.differences


# Does the checks, in any order and place; any that fails raises.
Runner = Callable[[Sequence[Check], Progress], Iterable[Verdict]]


def checks(data_dir: Path, live: Mapping[str, Mapping[str, Any]] | None, sealed: Mapping[str, int]) -> list[Check]:
    """The shards that have records. ``live`` is the server's ``digest`` answer, taken before ``sealed`` was."""
    found = []
    for path in shard_directories(data_dir):
        if not is_of_groups(path.name) or not sealed.get(path.name):
            continue
        said = live.get(path.name) if live is not None else None
        if said is None:
            found.append(Check(str(path), sealed[path.name]))
        else:
            found.append(Check(str(path), said["offset"], said["digest"], said.get("groups", {})))
    return found


def digests_of_server(answer: Mapping[str, Any] | None) -> Mapping[str, Mapping[str, Any]] | None:
    """The shards of a server's ``digest`` answer, if there is one. Raises CannotRun where its digests cannot be compared with ours."""
    if answer is None:
        return None
    if answer["format"] != FORMAT:
        raise CannotRun(
            f"the server tells digests of format {answer['format']}, and this is of format {FORMAT}: they cannot be compared. "
            "Run the verify of the server's own release, or stop the server: then the log alone is proven"
        )
    shards: Mapping[str, Mapping[str, Any]] = answer["shards"]
    return shards


def run_here(todo: Sequence[Check], progress: Progress) -> Iterator[Verdict]:
    """One shard after the other, in this process."""
    records = 0
    for done, check in enumerate(todo, 1):
        verdict = verify_shard(check)
        records += verdict.records
        progress.advance(done, records)
        yield verdict


def work(check: Check) -> tuple[bytes, int]:
    """``verify_shard`` for a task that hands bytes back."""
    verdict = verify_shard(check)
    return msgspec.json.encode(verdict), verdict.records


def verify_shard(check: Check) -> Verdict:
    """Replay both ways and compare. Raises DamagedLog."""
    shard_dir = Path(check.directory)
    layer, whole = full_sources(shard_dir, check.upto)
    counted = _Counted(check.upto)
    full = replay_batches(counted.batches(whole), check.upto)
    compacted = replay_batches(_Counted(check.upto).batches(sources(shard_dir, check.upto)[1]), check.upto)
    return Verdict(
        shard_dir.name,
        check.upto,
        counted.records,
        len(digest_of(full).parts),
        digest_of(full).digest,
        digest_of(compacted).digest,
        check.live,
        0 if layer is None else layer.to_offset,
        tuple(islice(_differences(full, compacted, check), MOST_DIFFERENCES)),
    )


class _Counted:
    """Batches of files, counted."""

    def __init__(self, upto: int) -> None:
        self.records = 0
        self._upto = upto

    def batches(self, found: Iterable[Source]) -> Iterator[bytes]:
        for source in found:
            for data, position, header in read_batches(source):
                if header.base_offset >= self._upto:
                    return
                self.records += header.count
                yield data[position : position + header.size]


def _differences(full: GroupShard, compacted: GroupShard, check: Check) -> Iterator[str]:
    if digest_of(full).digest != digest_of(compacted).digest:
        yield from _of_states(groups_of(full), groups_of(compacted))
    if check.live is not None and check.live != digest_of(compacted).digest:
        yield from _of_digests(digest_of(compacted).parts, check.live_groups)


def _of_states(full: Sequence[Group], compacted: Sequence[Group]) -> Iterator[str]:
    """Group by group, key by key: the full history's value, then that of layer and tail."""
    first, second = ({group.group_id: group for group in groups} for groups in (full, compacted))
    is_told = False
    for group_id in sorted({*first, *second}):
        ours, theirs = _items(first.get(group_id)), _items(second.get(group_id))
        for key in sorted({*ours, *theirs}):
            if ours.get(key) != theirs.get(key):
                is_told = True
                yield f"group {group_id}: {key}: {_told(ours.get(key))} in the full history, {_told(theirs.get(key))} in layer and tail"
    if not is_told:
        yield "the groups are the same, but not what open transactions hold"


def _of_digests(log: Mapping[str, str], live: Mapping[str, str]) -> Iterator[str]:
    differing = [group_id for group_id in sorted({*log, *live}) if log.get(group_id) != live.get(group_id)]
    for group_id in differing:
        yield f"group {group_id}: digest {log.get(group_id, 'none')} in the log, {live.get(group_id, 'none')} in the server"
    if not differing:
        yield "the server's digest differs, and that of every group does not"


def _items(group: Group | None) -> dict[str, Any]:
    """What a group consists of, by key."""
    if group is None:
        return {}
    plain = msgspec.to_builtins(group)
    offsets = {f"offset {each['topic']}-{each['partition']}": each for each in plain.pop("offsets")}
    members = {f"member {each['member_id']}": each for each in plain.pop("members")}
    records = {f"record {name}": digest for name, digest in plain.pop("records").items()}
    plain.pop("digest", None)
    items: dict[str, Any] = plain | offsets | members | records
    return items


def _told(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()
