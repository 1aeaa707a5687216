"""Running servers: whether each answers, groups that do not settle, and transactions that do not end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from coordinator_server.cli.diagnosis.finding import NOTE, OK, PROBLEM, WARNING, Finding
from coordinator_server.cli.output import counted, note
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import CONSUMER, Description, Listed, Member, describe_groups, list_groups
from coordinator_server.client.admin.transactions import OPEN, describe_transactions, list_transactions
from coordinator_server.client.errors import ClientError, UnsupportedVersion, known_code
from coordinator_server.group.holdup import Holdup, waits_for
from protocol.error_codes import ErrorCode
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse

SETTLED: Final = ("Stable", "Empty", "Dead", "")
MOST_MEMBERS: Final = 3
"""The number of members that are named of a group."""
MOST_GROUPS: Final = 20
"""The number of groups that are explained one by one."""
PROBE_S: Final = 5.0
"""How long a server may take to answer a probe."""
SERVING: Final = "serving"
LOADING: Final = "loading"
UNREACHABLE: Final = "unreachable"
_LATE_MS: Final = 60_000
_NO_STATE: Final = "none"


@dataclass(frozen=True)
class Seen:
    """A server as it answers. ``error`` says why it does not."""

    node_id: int
    address: str
    state: str
    milliseconds: float | None
    is_controller: bool
    error: str | None


async def see_servers(cluster: Cluster) -> list[Seen]:
    """Ask every server of the cluster once. Raises ClientError if none answers."""
    await cluster.learn()
    return list(await asyncio.gather(*(_see(cluster, node_id) for node_id in sorted(cluster.servers))))


async def _see(cluster: Cluster, node_id: int) -> Seen:
    about = node_id, str(cluster.servers[node_id])
    is_controller = node_id == cluster.controller_id
    try:
        async with asyncio.timeout(PROBE_S):
            # No group has this state: a server with thousands of them answers as fast. The first request opens the connection.
            await cluster.ask_once(node_id, ListGroupsRequest([_NO_STATE]), ListGroupsResponse)
            begun = time.monotonic()
            answer = await cluster.ask_once(node_id, ListGroupsRequest([_NO_STATE]), ListGroupsResponse)
            took_ms = round((time.monotonic() - begun) * 1000, 1)
    except TimeoutError:
        return Seen(*about, UNREACHABLE, None, is_controller, f"it has not answered within {PROBE_S:g} s")
    except ClientError as error:
        return Seen(*about, UNREACHABLE, None, is_controller, str(error))
    if answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return Seen(*about, LOADING, took_ms, is_controller, None)
    error_code = known_code(answer.error_code)
    return Seen(*about, SERVING, took_ms, is_controller, error_code.name if error_code else None)


WhoIsLate = Callable[[Sequence[str]], Sequence[Holdup]]
"""Returns what some groups wait for, as their server knows it; nothing if it cannot be asked."""


def nobody_known(_group_ids: Sequence[str]) -> Sequence[Holdup]:
    """Return nothing: over Kafka's protocol a server does not say who is late."""
    return ()


async def check_cluster(cluster: Cluster, watch_s: float, who_is_late: WhoIsLate = nobody_known) -> list[Finding]:
    """Check the servers, then groups and transactions. Raises ClientError."""
    servers = await see_servers(cluster)
    findings = [each for seen in servers for each in _judge(seen)]
    if cluster.controller_id not in cluster.servers:
        findings.append(
            Finding(PROBLEM, "servers", "there is no controller: topics and settings cannot be changed", "start loop 0")
        )
    if all(each.state == SERVING for each in servers):
        findings += await _check_groups(cluster, watch_s, who_is_late)
        findings += await _check_transactions(cluster)
    return findings


def _judge(seen: Seen) -> Iterator[Finding]:
    name = f"node {seen.node_id} at {seen.address}"
    if seen.state == UNREACHABLE:
        action = "is the port open in the firewall, published by the container, and named in advertised.listeners?"
        yield Finding(PROBLEM, "servers", f"{name}: {seen.error}", action)
    elif seen.state == LOADING:
        yield Finding(WARNING, "servers", f"{name} is loading its groups", "wait; clients try again by themselves")
    elif seen.error is not None:
        yield Finding(PROBLEM, "servers", f"{name} refuses to list its groups: {seen.error}", "look at its log")
    else:
        yield Finding(OK, "servers", f"{name} answers in {seen.milliseconds} ms")


async def _check_groups(cluster: Cluster, watch_s: float, who_is_late: WhoIsLate) -> list[Finding]:
    """Look at groups that are not settled, and again after a while: those without progress are stuck."""
    listed = await list_groups(cluster)
    unsettled = [each for each in listed if each.state not in SETTLED]
    if unsettled:
        before = await describe_groups(cluster, [each.group_id for each in unsettled])
        note(f"{counted(len(unsettled), 'group')} not settled: looking again in {watch_s:g} s (--watch)")
        await asyncio.sleep(watch_s)
        after = await describe_groups(cluster, before)
        stuck = [
            group for name, group in after.items() if group.state not in SETTLED and _standing(before[name]) == _standing(group)
        ]
    else:
        stuck = []
    if not stuck:
        return [_quiet(listed, unsettled)]
    told = stuck[:MOST_GROUPS]
    held = who_is_late([each.group_id for each in told])
    findings = [
        Finding(PROBLEM, "groups", *explain(group, [each for each in held if each.group_id == group.group_id])) for group in told
    ]
    if len(stuck) > MOST_GROUPS:
        text = f"{counted(len(stuck) - MOST_GROUPS, 'more group')} did not settle within {watch_s:g} s"
        findings.append(Finding(PROBLEM, "groups", text, "coordinator-server groups list --state preparingrebalance …"))
    return findings


def _quiet(listed: list[Listed], unsettled: list[Listed]) -> Finding:
    more = f", {len(unsettled)} of them were rebalancing and have gone on" if unsettled else ""
    return Finding(OK, "groups", f"{counted(len(listed), 'group')}{more}")


def _standing(group: Description) -> object:
    """Return what changes when a group gets anywhere."""
    return (
        group.state,
        group.epoch,
        group.assignment_epoch,
        [(each.member_id, each.epoch, each.assignment) for each in group.members],
    )


def explain(group: Description, held: Sequence[Holdup] = ()) -> tuple[str, str]:
    """Return why a group is not settled, and what to do. ``held`` is what its server says that it waits for, if it was asked."""
    why = f"'coordinator-server groups why {group.group_id} --data-dir DIR' says what began it"
    evict = f"stop that client, or 'coordinator-server groups evict {group.group_id} --member ID --execute'; {why}"
    if held:
        more = f" and {len(held) - MOST_MEMBERS} more" if len(held) > MOST_MEMBERS else ""
        late = "; ".join(map(_late, held[:MOST_MEMBERS]))
        return f"group {group.group_id} does not settle: {late}{more}", evict if any(each.member_id for each in held) else why
    if group.type == CONSUMER and group.state == "Reconciling":
        slow = [(each, _difference(each.assignment, each.target)) for each in group.members]
        holding = [f"{_who(member)} has not given up {left}" for member, left in slow if left]
        if holding:
            return f"group {group.group_id} does not settle: {'; '.join(holding[:MOST_MEMBERS])}", evict
        behind = [_who(each) for each in group.members if each.epoch != group.epoch]
        return (
            (
                f"group {group.group_id} does not settle: {', '.join(behind[:MOST_MEMBERS]) or 'a member'} "
                f"has not confirmed epoch {group.epoch}"
            ),
            why,
        )
    if group.state == "Assigning":
        members = ", ".join(_who(each) for each in group.members[:MOST_MEMBERS])
        return f"group {group.group_id} waits for a heartbeat, with which it is assigned anew; its members: {members}", why
    # Which members have joined, and which is the leader, only the server knows.
    ask = f"'coordinator-server groups waiting {group.group_id} --data-dir DIR' on the server's machine says who is late; {why}"
    if group.state == "CompletingRebalance":
        return f"group {group.group_id} waits for the leader's assignment", ask
    if group.state == "PreparingRebalance":
        what = f"group {group.group_id} waits until all of its {counted(len(group.members), 'member')} have joined again"
        return what, ask
    return f"group {group.group_id} stays in {group.state}", why


def _late(each: Holdup) -> str:
    """Return who is late, with what, and when the server goes on without it."""
    out = "" if each.out_in_ms is None else f" ({'put out' if each.member_id else 'goes on'} in {each.out_in_ms / 1000:.0f} s)"
    if not each.member_id:
        return f"it {waits_for(each)}{out}"
    client = f" of {each.client_id} at {each.client_host}" if each.client_id or each.client_host else ""
    return f"{each.member_id}{client} {waits_for(each)}{out}"


def _who(member: Member) -> str:
    return f"{member.member_id} of {member.client_id} at {member.client_host.removeprefix('/')}"


def _difference(first: dict[str, list[int]] | None, second: dict[str, list[int]] | None) -> str:
    left = {topic: sorted(set(some) - set((second or {}).get(topic, ()))) for topic, some in (first or {}).items()}
    return "; ".join(f"{topic} {','.join(map(str, some))}" for topic, some in left.items() if some)


async def _check_transactions(cluster: Cluster) -> list[Finding]:
    """Find transactions that are open for longer than their producer allowed."""
    try:
        listed = await list_transactions(cluster, OPEN)
    except UnsupportedVersion:
        return [Finding(NOTE, "transactions", "the server does not list transactions")]
    now_ms = round(time.time() * 1000)
    found = []
    for each in (await describe_transactions(cluster, [each.transactional_id for each in listed])).values():
        late_ms = now_ms - each.start_ms - each.timeout_ms if each.start_ms is not None else 0
        if late_ms > _LATE_MS:
            text = f"transaction {each.transactional_id} is open {late_ms // 1000:,} s longer than its timeout"
            action = f"'coordinator-server transactions abort {each.transactional_id} --execute'; groups wait for it"
            found.append(Finding(PROBLEM, "transactions", text, action))
    return found or [Finding(OK, "transactions", f"{counted(len(listed), 'open transaction')}")]
