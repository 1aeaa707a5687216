"""What ``doctor`` and ``top`` say of nodes over one store, from what one of them has answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli.diagnosis.directory import check_directory
from coordinator_server.cli.diagnosis.nodes import check_nodes, still_unowned, summary
from coordinator_server.log.file_locks import LocalLock
from coordinator_server.log.file_names import LOCK
from tests.support.control_answers import answering


def node(node_id: int, **changes: Any) -> dict[str, Any]:
    known = {
        "incarnation": 3,
        "address": f"db-{node_id}:9192",
        "is_dead": False,
        "is_connected": True,
        "renewals": 7,
        "shards": 50,
    }
    return {"node_id": node_id, **known, **changes}


SNAPSHOT = {"pid": 77, "user": "report", "application": "psql", "transactions": 12, "seconds": 3.0}
STATE: dict[str, Any] = {
    "address": "postgresql://db/coordinator",
    "version": "15.8",
    "standbys": "ANY 1 (*)",
    "synchronous": 2,
    "sees_all": True,
    "needs_standby": True,
    "oldest_snapshot": SNAPSHOT,
    "trims": True,
    "waiting_eras": 6,
    "eras": 8,
    "objects": "",
    "log_bytes": 5 << 20,
    "segments": 0,
    "segment_bytes": 0,
}
STORE: dict[str, Any] = {
    "refuses": None,
    "statements": {
        "writes": {"count": 9, "mean_ms": 1.25, "in_doubt": 0},
        "renews": {"count": 0, "mean_ms": None, "in_doubt": 0},
    },
    "state": STATE,
    "error": None,
}
CLUSTER: dict[str, Any] = {
    "node_id": 1,
    "incarnation": 3,
    "lease_s": 8.2,
    "lease_length_s": 9.0,
    "rows_age_s": 0.1,
    "clock_difference_s": 0.02,
    "epochs": 412,
    "shards": 100,
    "unowned": [],
    "unowned_count": 0,
    "nodes": [node(1), node(2)],
    "takeovers": {"silent": 0, "gone": 1},
    "store": STORE,
}


def found(cluster: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Everything that is not in order."""
    return [(each.severity, each.check, each.what) for each in check_nodes(cluster) if each.severity != "ok"]


def of_store(**changes: Any) -> dict[str, Any]:
    return {**CLUSTER, "store": {**STORE, **changes}}


def of_state(**changes: Any) -> dict[str, Any]:
    return of_store(state={**STATE, **changes})


def test_a_cluster_in_order() -> None:
    assert found(CLUSTER) == []
    assert {each.check for each in check_nodes(CLUSTER)} == {"store", "standby", "snapshots", "history", "nodes", "shards"}


def test_where_the_log_is_is_said_when_some_of_it_has_moved() -> None:
    def history(**changes: Any) -> list[str]:
        return [each.what for each in check_nodes(of_state(objects="s3://lake/c", **changes)) if each.check == "history"]

    before = "6 of 8 parts of the log wait for their removal; new layers go to s3://lake/c"
    assert history() == [before]
    moved = f"{before}; the log has 5 MiB in the database, and 2,048 MiB in 40 segments elsewhere"
    assert history(segments=40, segment_bytes=2 << 30) == [moved]


CASES: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    (
        of_store(refuses="no answer", state=None, error="no answer"),
        ("problem", "store", "there is no connection to write: no answer"),
    ),
    (of_store(state=None, error="it is away"), ("warning", "store", "it was not asked about itself: it is away")),
    (
        of_state(standbys="", needs_standby=True),
        ("problem", "standby", "store.needs.standby is set, and the database waits for no"),
    ),
    (
        of_state(standbys="", needs_standby=False),
        ("note", "standby", "the database waits for no standby: what is acknowledged is on"),
    ),
    (of_state(synchronous=0), ("problem", "standby", "none of synchronous_standby_names='ANY 1 (*)' is there")),
    (
        of_state(oldest_snapshot={**SNAPSHOT, "seconds": 301.0}),
        ("warning", "snapshots", "the oldest snapshot is that of report psql (pid 77): 301 s, 12 transactions"),
    ),
    (
        of_state(oldest_snapshot={**SNAPSHOT, "seconds": None, "transactions": 1_000_001}),
        ("warning", "snapshots", "the oldest snapshot is that of report psql (pid 77): 0 s, 1,000,001 transactions"),
    ),
    (of_state(trims=False), ("warning", "history", "the role of the nodes may not TRUNCATE: rows that layers replace")),
    (of_state(waiting_eras=7), ("warning", "history", "7 of 8 parts of the log wait for their removal: it only grows")),
    (
        CLUSTER | {"clock_difference_s": -11.0},
        ("problem", "clock", "the store's clock is 11.0 s behind this machine's: the node takes"),
    ),
    (CLUSTER | {"clock_difference_s": 1.5}, ("warning", "clock", "the store's clock is 1.5 s ahead of this machine's")),
    (
        CLUSTER | {"incarnation": None, "lease_s": 0.0},
        ("problem", "nodes", "node 1, which was asked, was put out of the cluster"),
    ),
    (CLUSTER | {"lease_s": 0.0}, ("problem", "nodes", "the lease of node 1 is over: it answers nobody")),
    (
        CLUSTER | {"nodes": [node(1), node(2, is_dead=True, shards=0)]},
        ("warning", "nodes", "node 2 at db-2:9192 has left or was"),
    ),
    (
        CLUSTER | {"nodes": [node(1), node(2, is_connected=False)]},
        ("warning", "nodes", "the store has no session of node 2 at db-2"),
    ),
    (CLUSTER | {"unowned": ["a-1", "a-2"], "unowned_count": 2}, ("problem", "shards", "2 shards without an owner: a-1, a-2")),
    (CLUSTER | {"unowned": ["a-1"], "unowned_count": 9}, ("problem", "shards", "9 shards without an owner: a-1 and others")),
]


@pytest.mark.parametrize(("cluster", "expected"), CASES, ids=lambda each: each[2][:40] if isinstance(each, tuple) else "")
def test_what_is_wrong_is_said(cluster: dict[str, Any], expected: tuple[str, str, str]) -> None:
    """And nothing else, each with what to do."""
    [(severity, check, what)] = found(cluster)

    assert (severity, check) == expected[:2]
    assert what.startswith(expected[2])
    assert all(each.action for each in check_nodes(cluster) if each.severity != "ok")


def test_a_shard_that_moves_is_not_told() -> None:
    """Of the shards that are named, those that had no owner before either; of others, as many as there may be."""

    def without(*named: str, count: int) -> dict[str, Any]:
        return CLUSTER | {"unowned": list(named), "unowned_count": count}

    moves = still_unowned(without("a-1", count=1), without("a-2", count=1))
    assert found(dict(moves)) == []
    stays = still_unowned(without("a-1", "a-2", count=2), without("a-2", "a-3", count=9))
    assert [what for *_, what in found(dict(stays))] == ["1 shard without an owner: a-2"]
    many = still_unowned(without("a-1", count=7), without("a-1", count=5))
    assert [what for *_, what in found(dict(many))] == ["5 shards without an owner: a-1 and others"]


def test_what_the_role_may_not_see_is_said() -> None:
    notes = found(of_state(sees_all=False))

    assert [severity for severity, *_ in notes] == ["note", "note"]
    assert all("may not see" in what for *_, what in notes)


def test_the_line_of_top() -> None:
    assert summary(CLUSTER) == (
        "seen by node 1: node 1 50 shards, node 2 50 shards; lease 8.2 of 9 s, commits take 1.25 ms on average"
    )
    away = CLUSTER | {"nodes": [node(1), node(2, is_dead=True)], "unowned_count": 50, "store": {**STORE, "statements": {}}}
    assert summary(away) == "seen by node 1: node 1 50 shards, node 2 gone, 50 without owner; lease 8.2 of 9 s"


HEALTH = {"ok": True, "health": [{"loop": 1, "node_id": 1, "pid": 1, "stage": "serving", "shards": {}, "refuses": None}]}
STATUS = {
    "ok": True,
    "status": [
        {"node_id": 1, "pid": 1, "log_failure": None, "is_loaded": True, "connections": 3, "uptime_ms": 1, "incidents": {},
         "certificates": []}
    ],
}  # fmt: skip


def test_the_directory_of_a_node_has_no_log(tmp_path: Path) -> None:
    """The node that has it is asked about its cluster."""
    tmp_path.chmod(0o700)
    lock = LocalLock(f"{tmp_path}/{LOCK}")
    answers = [json.dumps(each).encode() + b"\n" for each in (HEALTH, STATUS, {"ok": True, "cluster": [CLUSTER]})]
    with answering(tmp_path, *answers) as asked:
        checks = {each.check for each in check_directory(tmp_path, is_full=False, progress=lambda _done, _all: None)}
    lock.close()

    assert [json.loads(each)["op"] for each in asked] == ["health", "status", "cluster"]
    assert {"nodes", "shards", "store", "server", "directory"} <= checks
    assert "damage" not in checks


def test_a_directory_that_nobody_has_is_none(tmp_path: Path) -> None:
    [finding] = check_directory(tmp_path, is_full=False, progress=lambda _done, _all: None)

    assert (finding.severity, finding.check) == ("problem", "directory")
    assert "start it first" in (finding.action or "")
