"""A data directory: whose it is, whether a server runs on it, what that says of itself, and damage."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from coordinator_server.cli.diagnosis.finding import NOTE, OK, PROBLEM, WARNING, Finding
from coordinator_server.cli.diagnosis.machine import check_clock, check_disk, check_process
from coordinator_server.cli.diagnosis.nodes import check_nodes, still_unowned
from coordinator_server.cli.observed_directory import check_observed, is_observed
from coordinator_server.cli.output import counted
from coordinator_server.config.listeners import bracketed
from coordinator_server.log.errors import WrongDirectory
from coordinator_server.log.jobs import Holder
from coordinator_server.log.opening import Progress, find_damage, holder_of, is_log
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server

QUICK_BYTES: Final = 1 << 30
"""A log up to this size is read for damage without being asked to."""
SOON_DAYS: Final = 14
LOOKS: Final = 5
LOOK_S: Final = 1.0
"""A shard that moves has no owner for a moment: only one that still has none after so many more looks is reported."""
_ANSWERING: Final = frozenset({"serving", "loading"})
"""The stages of a loop that says how it is, as control.sock has them."""
# How this machine reaches a server that listens on all addresses.
_LOCAL: Final[Mapping[str, str]] = {"0.0.0.0": "127.0.0.1", "::": "::1"}
INCIDENTS: Final[Mapping[str, str]] = {
    "connection-limit-reached": "raise max.connections, or max.connections.per.ip, or find the client that opens so many",
    "connection-rate-reached": "raise max.connection.creation.rate, or find the client that connects over and over",
    "connections-not-accepted": "raise the limit of open files (LimitNOFILE= of the unit)",
    "connection-refused": "look at the server's log: a client sends what this server does not read",
    "node-link-refused": "look at the server's log: the certificate of a node, or its id, does not fit",
    "request-stalled": "look at the server's log: a client sends a request too slowly",
    "login-shed": "find the addresses that connect and do not log in: the server's log names some; set max.connections.per.ip",
    "request-shed": "raise queued.max.request.bytes, or find the clients that send so much",
    "tls-handshake-failed": "look at the server's log: certificates of clients, or their protocol versions, do not fit",
}
"""What to do about what a server counts (server/wire/incidents.py)."""


def check_directory(data_dir: Path, *, is_full: bool, progress: Progress, quick_bytes: int | None = None) -> Iterator[Finding]:
    """Check a directory and the server that runs on it. Beyond ``quick_bytes`` a log is read only with ``is_full``."""
    if not is_log(data_dir):
        yield from _check_node(data_dir)
        return
    yield from _check_permissions(data_dir)
    yield from check_disk(data_dir)
    yield from check_clock(data_dir)
    if is_observed(data_dir):
        yield from check_observed(data_dir, is_followed=holder_of(data_dir) is not None)
    else:
        yield from _check_server(data_dir, holder_of(data_dir))
    yield from _check_damage(data_dir, None if is_full else quick_bytes or QUICK_BYTES, progress)


def _check_node(data_dir: Path) -> Iterator[Finding]:
    """Check the directory of a node, whose log is in a store: it has its socket."""
    found = holder_of(data_dir)
    if found is None:
        action = "check --data-dir; a node with a store has no log there: start it first"
        yield Finding(PROBLEM, "directory", f"{data_dir} is no data directory of coordinator-server", action)
        return
    yield from _check_permissions(data_dir)
    yield from check_clock(data_dir)
    yield from _check_server(data_dir, found, has_store=True)
    try:
        clusters = _clusters(data_dir)
        for _ in range(LOOKS):
            if not any(each["unowned_count"] for each in clusters):
                break
            time.sleep(LOOK_S)
            clusters = [still_unowned(before, now) for before, now in zip(clusters, _clusters(data_dir), strict=False)]
    except (PipelineError, OSError) as error:
        yield Finding(PROBLEM, "nodes", f"the node does not describe its cluster: {error}", "look at its log")
        return
    for cluster in clusters:
        yield from check_nodes(cluster)


def _clusters(data_dir: Path) -> Sequence[Mapping[str, Any]]:
    """Return the cluster of a node as it describes it; nothing while it starts or stops."""
    answer = ask_server(data_dir, {"op": "cluster"})
    return () if answer is None else answer["cluster"]


def _check_permissions(data_dir: Path) -> Iterator[Finding]:
    found = data_dir.stat()
    if found.st_mode & 0o077:
        action = f"chmod 700 {data_dir}: the log has ids, addresses and offsets of clients"
        yield Finding(WARNING, "directory", f"others than its owner can open it (mode {found.st_mode & 0o777:o})", action)
    elif not os.access(data_dir, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(NOTE, "directory", "it belongs to a different user", "run this as the server's user")
    else:
        yield Finding(OK, "directory", str(data_dir))


def _check_server(data_dir: Path, found: Holder | None, *, has_store: bool = False) -> Iterator[Finding]:
    if found is None:
        yield Finding(NOTE, "server", f"no server runs on {data_dir}", f"coordinator-server serve --data-dir {data_dir}")
        return
    if found.job:
        yield Finding(NOTE, "server", f"{found} has the directory", "a server that starts now waits for it")
        return
    try:
        # A loop that hangs or is being started answers nothing else.
        health = ask_server(data_dir, {"op": "health"})
        loops: Sequence[Mapping[str, Any]] = [] if health is None else health["health"]
        away = [each for each in loops if each["stage"] not in _ANSWERING]
        answer = health if away else ask_server(data_dir, {"op": "status"})
    except (PipelineError, OSError) as error:
        yield Finding(PROBLEM, "server", str(error), "look at the server's log")
        return
    if answer is None:
        what = f"the server ({found}) is starting or stopping: it does not listen on control.sock"
        yield Finding(WARNING, "server", what, "try again; if it stays so, look at its log")
        return
    for each in away:
        action = "the supervisor restarts it; if that does not help, look at the server's log"
        yield Finding(PROBLEM, "server", f"loop {each['loop']} does not serve: {each['stage']}", action)
    yield from _check_starts(loops)
    for each in loops:
        # What is wrong with a store is said with what to do about it.
        if each.get("refuses") and not has_store:
            action = "make room on the disk, or mend it: no restart is needed, and clients try again meanwhile"
            yield Finding(PROBLEM, "server", f"loop {each['loop']} refuses changes: {each['refuses']}", action)
    if away:
        return
    status: Sequence[Mapping[str, Any]] = answer["status"]
    for each in status:
        yield from _check_loop(each)
        yield from check_process(each["pid"])
    yield from _check_certificates(status)


def _check_starts(loops: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for each in loops:
        # A server with one loop has no supervisor that counts.
        starts = each.get("starts", 1)
        if starts > 1:
            what = f"loop {each['loop']} has been restarted {counted(starts - 1, 'time')} since the server's start"
            action = "the server's log has loop-died or loop-hangs, with the reason; docs/operations.md, 'A loop dies, or hangs'"
            yield Finding(WARNING, "server", what, action)


def own_listeners(data_dir: Path) -> dict[str, str]:
    """Return the addresses of the server that runs on a directory, by security protocol; empty if none answers."""
    try:
        answer = ask_server(data_dir, {"op": "loops"})
    except (PipelineError, OSError):
        return {}
    loops: Sequence[Mapping[str, Any]] = [] if answer is None else answer["loops"]
    found: dict[str, list[str]] = {}
    # A loop that is being started already has its socket, and accepts no connection.
    for loop in sorted(loops, key=lambda each: each["stage"] not in _ANSWERING):
        for each in loop["listeners"]:
            host = _LOCAL.get(each["host"], each["host"])
            found.setdefault(each["protocol"], []).append(f"{bracketed(host)}:{each['port']}")
    return {protocol: ",".join(addresses) for protocol, addresses in found.items()}


def _check_loop(status: Mapping[str, Any]) -> Iterator[Finding]:
    name = f"node {status['node_id']}"
    if status["log_failure"] is not None:
        action = "look at the disk and at the server's log; it takes changes again after a restart on a disk that works"
        yield Finding(PROBLEM, "server", f"{name} refuses changes: {status['log_failure']}", action)
    elif not status["is_loaded"]:
        shards = ", ".join(f"{count} {state}" for state, count in sorted(status["shards"].items()))
        yield Finding(WARNING, "server", f"{name} is loading: shards {shards}", "wait; clients try again by themselves")
    else:
        connections = counted(status["connections"], "connection")
        yield Finding(OK, "server", f"{name} serves {connections}, and was started {status['uptime_ms'] // 1000:,} s ago")
    for incident, count in sorted(status["incidents"].items()):
        if incident in INCIDENTS:
            text = f"{name} has counted {counted(count, 'case')} of {incident} since its start"
            yield Finding(WARNING, "clients", text, INCIDENTS[incident])


def _check_certificates(status: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    days = {each["listener"]: each["days_left"] for loop in status for each in loop["certificates"]}
    for listener, left in sorted(days.items()):
        action = "write the new certificate to the same file, and send the server SIGHUP"
        if left < 0:
            yield Finding(PROBLEM, "certificates", f"the certificate of {listener} has expired", action)
        elif left < SOON_DAYS:
            yield Finding(WARNING, "certificates", f"the certificate of {listener} expires in {counted(left, 'day')}", action)
        else:
            yield Finding(OK, "certificates", f"the certificate of {listener} is good for {counted(left, 'day')}")


def _check_damage(data_dir: Path, most_bytes: int | None, progress: Progress) -> Iterator[Finding]:
    size = sum(each.stat().st_size for each in data_dir.rglob("*") if each.is_file())
    if most_bytes is not None and size > most_bytes:
        text = f"the log has {size >> 20:,} MiB, and was not read for damage"
        yield Finding(NOTE, "damage", text, f"--full reads it; so does 'coordinator-server log verify --data-dir {data_dir}'")
        return
    try:
        report = find_damage(data_dir, progress)
    except (OSError, WrongDirectory) as error:
        yield Finding(PROBLEM, "damage", str(error), "run this as the server's user")
        return
    for each in report.damage:
        yield Finding(PROBLEM, "damage", f"{each.path} at byte {each.position}: {each.why}; {each.means}", each.action)
    if not report.damage:
        yield Finding(OK, "damage", f"none in {counted(report.files, 'file')} and {counted(report.records, 'record')}")
