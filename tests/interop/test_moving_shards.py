"""What a client notices of a shard that moves each second: its commits take longer, and nothing else.

`make interop` runs it with the clients that promise so much (conftest.py), and prints how long the longest commit took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from coordinator_server.runtime.partitioner import partition_for
from tests.interop.clients import OF_CONSUMER_GROUPS, MemberOptions
from tests.interop.crew import Crew
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.shard_mover import ShardMover

SECONDS = 10.0
MOVED_EVERY_S = 1.0
# Between two commits of a member.
PACE_S = 0.05
# More than a client's own retries take; its commits give up later.
PAUSE_S = 15.0
# Clients end a session themselves: librdkafka when it had no answer for that long, on a machine that does other things, too.
SESSION_MS = 10_000


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("pair"), OF_CONSUMER_GROUPS, loops=2) as server:
        yield server


def test_members_stay(
    client: str,
    protocol: str,
    pair: Server,
    crew_of: Callable[[str, str], Crew],
    record_property: Callable[[str, object], None],
) -> None:
    """No synchronous commit fails, and no member is put out: the group does not even rebalance."""
    server, group = pair, crew_of(client, pair.bootstrap)
    options = MemberOptions(session_timeout_ms=SESSION_MS, protocol=protocol)
    group.join(2, options).settle()
    eventually(lambda: [len(member.owned) for member in group.members] == [3, 3])
    told, took_s, position = [len(member.history) for member in group.members], [], 0
    shard = f"__consumer_offsets-{partition_for(group.group, 50)}"
    ends_s = time.monotonic() + SECONDS
    with ShardMover(server, MOVED_EVERY_S, [shard]) as mover:
        while time.monotonic() < ends_s:
            position += 1
            for member in group.members:
                began_s = time.monotonic()
                # An error of the client is the test's.
                member.call("commit", {member.owned[0]: position})
                took_s.append(time.monotonic() - began_s)
            time.sleep(PACE_S)

    record_property("longest_pause", f"{max(took_s):.2f} s, of {len(took_s)} commits and {len(mover.moves)} moves")
    assert len(mover.moves) >= SECONDS // 2
    assert max(took_s) < PAUSE_S
    assert [len(member.history) for member in group.members] == told
    assert group.members[0].committed(member.owned[0] for member in group.members) == {
        member.owned[0]: position for member in group.members
    }
