"""Nodes over one store, as one of them describes them (the operation ``cluster`` of ``control.sock``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from coordinator_server.cli.diagnosis.finding import NOTE, OK, PROBLEM, WARNING, Finding
from coordinator_server.cli.output import counted

FAR_S: Final = 10.0
"""A node whose clock is further from the store's takes no shards (server/membership)."""
AWRY_S: Final = 1.0
OLD_SNAPSHOT_S: Final = 300.0
OLD_SNAPSHOT_TRANSACTIONS: Final = 1_000_000
_ORDER: Final = "docs/cluster.md, 'What happens when'"


def check_nodes(cluster: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the store, the lease of the node that was asked, the other nodes, and the owners of shards."""
    yield from _check_store(cluster["store"])
    yield from _check_clock(cluster["clock_difference_s"])
    yield from _check_lease(cluster)
    for node in cluster["nodes"]:
        yield from _check_node(node)
    yield from _check_owners(cluster)


def still_unowned(before: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a node describes now, where only shards that had no owner before either have none."""
    lasting = sorted(set(before["unowned"]) & set(now["unowned"]))
    unnamed = min(each["unowned_count"] - len(each["unowned"]) for each in (before, now))
    return {**now, "unowned": lasting, "unowned_count": len(lasting) + unnamed}


def summary(cluster: Mapping[str, Any]) -> str:
    """Return one line about the nodes, the lease and the store."""
    nodes = ", ".join(
        f"node {each['node_id']} {'gone' if each['is_dead'] else counted(each['shards'], 'shard')}" for each in cluster["nodes"]
    )
    writes = cluster["store"]["statements"].get("writes", {"mean_ms": None, "in_doubt": 0})
    took = "" if writes["mean_ms"] is None else f", commits take {writes['mean_ms']:g} ms on average"
    without = f", {cluster['unowned_count']:,} without owner" if cluster["unowned_count"] else ""
    doubt = f", {writes['in_doubt']:,} in doubt" if writes["in_doubt"] else ""
    lease = f"lease {cluster['lease_s']:.1f} of {cluster['lease_length_s']:g} s"
    return f"seen by node {cluster['node_id']}: {nodes}{without}; {lease}{took}{doubt}"


def _check_store(store: Mapping[str, Any]) -> Iterator[Finding]:
    if store["refuses"] is not None:
        action = "mend the database or the way to it: commits wait, and continue by themselves; no member is put out meanwhile"
        yield Finding(PROBLEM, "store", f"there is no connection to write: {store['refuses']}", action)
    state = store["state"]
    if state is None:
        if store["refuses"] is None:
            yield Finding(WARNING, "store", f"it was not asked about itself: {store['error']}", "try again")
        return
    yield from _check_standbys(state)
    yield from _check_snapshot(state)
    yield from _check_history(state)
    in_doubt = sum(each["in_doubt"] for each in store["statements"].values())
    doubt = f"; {counted(in_doubt, 'statement')} had no known outcome since the start, and were resolved" if in_doubt else ""
    yield Finding(OK, "store", f"PostgreSQL {state['version']} at {state['address']} answers{doubt}")


def _check_standbys(state: Mapping[str, Any]) -> Iterator[Finding]:
    names = state["standbys"]
    if not names:
        if state["needs_standby"]:
            action = "set synchronous_standby_names, and reload: commits fail until then"
            yield Finding(PROBLEM, "standby", "store.needs.standby is set, and the database waits for no standby", action)
        else:
            action = "set synchronous_standby_names, and store.needs.standby=true, if losing that machine must lose nothing"
            yield Finding(NOTE, "standby", "the database waits for no standby: what is acknowledged is on one machine", action)
    elif not state["sees_all"]:
        yield _unseen("whether the standbys that commits wait for are there")
    elif not state["synchronous"]:
        action = "start a standby of that name, or change synchronous_standby_names: commits wait until then"
        yield Finding(PROBLEM, "standby", f"none of synchronous_standby_names='{names}' is there", action)
    else:
        yield Finding(OK, "standby", f"commits wait for {names}, and {state['synchronous']} of these standbys are there")


def _check_snapshot(state: Mapping[str, Any]) -> Iterator[Finding]:
    if not state["sees_all"]:
        yield _unseen("sessions of others that keep old rows")
        return
    oldest = state["oldest_snapshot"]
    if oldest is None:
        yield Finding(OK, "snapshots", "no other session has one")
        return
    seconds, transactions = oldest["seconds"] or 0.0, oldest["transactions"]
    who = f"{oldest['user']} {oldest['application']}".strip()
    what = f"the oldest snapshot is that of {who} (pid {oldest['pid']}): {seconds:,.0f} s, {counted(transactions, 'transaction')}"
    if seconds > OLD_SNAPSHOT_S or transactions > OLD_SNAPSHOT_TRANSACTIONS:
        action = (
            f"end it (SELECT pg_terminate_backend({oldest['pid']})): old rows of shards stay meanwhile, and commits get slower"
        )
        yield Finding(WARNING, "snapshots", what, action)
    else:
        yield Finding(OK, "snapshots", what)


def _check_history(state: Mapping[str, Any]) -> Iterator[Finding]:
    waiting, eras = state["waiting_eras"], state["eras"]
    if not state["trims"]:
        action = "GRANT TRUNCATE ON ALL TABLES IN SCHEMA coordinator_server to it, or let it own the tables"
        yield Finding(
            WARNING, "history", "the role of the nodes may not TRUNCATE: rows that layers replace stay for ever", action
        )
    elif waiting >= eras - 1:
        action = "look for compactions that fail, nodes of an earlier version, and sessions that read the log for long"
        yield Finding(WARNING, "history", f"{waiting} of {eras} parts of the log wait for their removal: it only grows", action)
    else:
        place = state["objects"] or "the database"
        # Nodes of earlier versions do not say it.
        rows, moved = state.get("log_bytes", 0) >> 20, state.get("segment_bytes", 0) >> 20
        text = f"{waiting} of {eras} parts of the log wait for their removal; new layers go to {place}"
        if segments := state.get("segments", 0):
            text += f"; the log has {rows:,} MiB in the database, and {moved:,} MiB in {counted(segments, 'segment')} elsewhere"
        yield Finding(OK, "history", text)


def _unseen(what: str) -> Finding:
    return Finding(NOTE, "store", f"the role of the nodes may not see {what}", "GRANT pg_read_all_stats to it")


def _check_clock(difference_s: float) -> Iterator[Finding]:
    what = f"the store's clock is {abs(difference_s):,.1f} s {'ahead of' if difference_s > 0 else 'behind'} this machine's"
    if abs(difference_s) > FAR_S:
        yield Finding(PROBLEM, "clock", f"{what}: the node takes no shards", "set the clocks (NTP)")
    elif abs(difference_s) > AWRY_S:
        yield Finding(WARNING, "clock", what, f"set the clocks (NTP): beyond {FAR_S:g} s the node takes no shards")


def _check_lease(cluster: Mapping[str, Any]) -> Iterator[Finding]:
    name = f"node {cluster['node_id']}"
    if cluster["incarnation"] is None:
        action = "it joins again by itself when the store answers; its log has node-put-out, with the reason"
        yield Finding(PROBLEM, "nodes", f"{name}, which was asked, was put out of the cluster", action)
    elif cluster["lease_s"] <= 0:
        action = f"its log has lease-over; it goes on when it has reached the store; {_ORDER}"
        yield Finding(PROBLEM, "nodes", f"the lease of {name} is over: it answers nobody", action)
    else:
        text = f"the lease of {name} lasts for {cluster['lease_s']:.1f} of {cluster['lease_length_s']:g} s"
        yield Finding(OK, "nodes", text)


def _check_node(node: Mapping[str, Any]) -> Iterator[Finding]:
    name = f"node {node['node_id']} at {node['address']}"
    if node["is_dead"]:
        yield Finding(
            WARNING, "nodes", f"{name} has left or was marked dead", "start it; if it is not to come back, it needs nothing"
        )
    elif not node["is_connected"]:
        action = f"look at its log, and at the network between it and the database; {_ORDER}"
        yield Finding(WARNING, "nodes", f"the store has no session of {name}", action)
    else:
        yield Finding(OK, "nodes", f"{name} owns {counted(node['shards'], 'shard')}, process {node['incarnation']}")


def _check_owners(cluster: Mapping[str, Any]) -> Iterator[Finding]:
    unowned, count = cluster["unowned"], cluster["unowned_count"]
    if count:
        named = ", ".join(unowned) + (" and others" if count > len(unowned) else "")
        action = "living nodes take them within a second: if none does, their logs have clock-differs or node-put-out"
        yield Finding(PROBLEM, "shards", f"{counted(count, 'shard')} without an owner: {named}", action)
    elif cluster["shards"]:
        yield Finding(
            OK, "shards", f"each of {counted(cluster['shards'], 'shard')} has an owner; sum of epochs {cluster['epochs']:,}"
        )
