"""What is behind the groups: the shards of the log with their layers, the server's loops, and what jobs have done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from coordinator_server.log.jobs import JobShard
from coordinator_server.log.opening import identity_of, job_shards
from coordinator_server.page.aged import Aged
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server
from coordinator_server.pipeline.report import SCHEDULE, ScheduleReport

_OLDEST_S: Final = 5.0
_CLEANER: Final = "cleaner"


class Shard(Struct):
    """A shard: its owner among the loops, its segments and its newest layer, which stands for all before ``layer_to``.

    ``layer_ms`` is when the layer was made, in ms since 1970. Sizes are in bytes. What only a running server knows is None without
    one.
    """

    shard: str
    segments: int
    size: int
    layer_to: int
    layer_size: int
    layer_ms: int | None = None
    loop: int | None = None
    node_id: int | None = None
    epoch: int | None = None
    state: str | None = None
    leader: int | None = None
    next_offset: int | None = None
    high_watermark: int | None = None
    missing: int | None = None


class Loop(Struct):
    """A loop of the server: its process, where it listens, and what it has."""

    loop: int
    node_id: int
    pid: int
    stage: str
    starts: int
    listeners: list[str]
    version: str | None = None
    uptime_ms: int | None = None
    connections: int | None = None
    groups: dict[str, int] = {}
    shards: int | None = None
    incidents: dict[str, int] = {}
    log_failure: str | None = None


class Job(Struct):
    """A job over the log, and its last run. ``by`` is who runs it: the server's cleaner, or a schedule."""

    job: str
    by: str
    runs: int
    failures: int
    last_ms: int | None
    seconds: float
    said: str
    is_equal: bool | None = None


class Machine(Struct):
    """All of it. ``unknown`` says why the running server does not say more; "" if it does, or none runs."""

    shards: list[Shard]
    loops: list[Loop]
    jobs: list[Job]
    set_aside: list[dict[str, Any]] = []
    unknown: str = ""


def machine_of(data_dir: Path) -> Aged[Machine]:
    """Return what a directory and the server on it are like, some seconds old at most. To ask raises LogError, OSError."""
    return Aged(lambda: _machine(data_dir), _OLDEST_S)


def _machine(data_dir: Path) -> Machine:
    found = Machine([_shard(each) for each in job_shards(data_dir)], [], [])
    try:
        if identity_of(data_dir).is_observed:
            _add_followed(found, ask_server(data_dir, {"op": "status"}))
        else:
            _add_server(
                found, {op: ask_server(data_dir, {"op": op}) for op in ("loops", "status", "owners", "shards", "pipeline")}
            )
    except PipelineError as why:
        found.unknown = str(why)
    return found


def _shard(shard: JobShard) -> Shard:
    layer = shard.newest_layer()
    sizes = shard.segment_sizes()
    found = Shard(shard.name, len(sizes), sum(sizes.values()), 0, 0)
    if layer is not None:
        files = [each.stat() for each in layer.files()]
        found.layer_to, found.layer_size = layer.to_offset, sum(each.st_size for each in files)
        found.layer_ms = max((each.st_mtime_ns // 1_000_000 for each in files), default=None)
    return found


def _add_followed(found: Machine, answer: Mapping[str, Any] | None) -> None:
    """Add what ``observe`` says of the cluster's partitions."""
    if answer is None:
        return
    for each in found.shards:
        status = answer["shards"].get(each.shard)
        if status is not None:
            each.leader, each.next_offset = status["leader"], status["next_offset"]
            each.high_watermark, each.missing = status["high_watermark"], status["missing"]
    found.set_aside = answer["set_aside"]


def _add_server(found: Machine, answers: Mapping[str, Mapping[str, Any] | None]) -> None:
    if None in answers.values():
        return
    loops, status, owners, states, reports = (answers[op] or {} for op in ("loops", "status", "owners", "shards", "pipeline"))
    for each in found.shards:
        owner = owners["owners"].get(each.shard)
        if owner is not None:
            each.loop, each.node_id, each.epoch = owner["loop"], owner["node_id"], owner["epoch"]
        if each.shard in states["shards"]:
            each.state = states["shards"][each.shard]["state"]
    of_node = {each["node_id"]: each for each in status["status"]}
    found.loops = [_loop(each, of_node.get(each["node_id"], {})) for each in loops["loops"]]
    found.jobs = list(_jobs(reports["pipeline"]))


def _loop(described: Mapping[str, Any], status: Mapping[str, Any]) -> Loop:
    listeners = [f"{each['name']}://{each['host']}:{each['port']}" for each in described["listeners"]]
    loop, node_id, pid, stage, starts = (described[name] for name in ("loop", "node_id", "pid", "stage", "starts"))
    found = Loop(loop, node_id, pid, stage, starts, listeners)
    if status:
        for name in ("version", "uptime_ms", "connections", "groups", "incidents", "log_failure"):
            setattr(found, name, status[name])
        found.shards = sum(status["shards"].values())
    return found


def _jobs(reports: Mapping[str, Any]) -> Iterator[Job]:
    cleaner = reports[_CLEANER]
    last_ms = cleaner["last_ms"] or None
    yield Job("compact", _CLEANER, cleaner["runs"], cleaner["failures"], last_ms, cleaner["seconds"], cleaner["said"])
    if SCHEDULE in reports:
        schedule = msgspec.convert(reports[SCHEDULE], ScheduleReport)
        for name, total in schedule.jobs.items():
            last = total.last
            runs = sum(total.runs.values())
            failures = runs - total.runs.get("done", 0)
            said, seconds, is_equal = ("", 0.0, None) if last is None else (last.said, last.seconds, last.counts.is_equal)
            yield Job(name, f"schedule ({schedule.engine})", runs, failures, total.last_done_ms or None, seconds, said, is_equal)
