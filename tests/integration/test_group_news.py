"""What a server's own log says of groups: a line for each rebalance, and for each session that expires."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.members import Member, form_group, join_all
from tests.support.server import Server

GROUP = "readers"


def story(server: Server) -> tuple[str, str]:
    """Two members, of which one falls silent. The ids of both."""
    [survivor] = form_group(server.address, GROUP, 1)
    silent = Member(server.address, GROUP, session_timeout_ms=500)
    join_all([survivor], [silent])
    silent.client.close()
    survivor.await_rebalance()
    join_all([survivor])
    survivor.client.close()
    return survivor.member_id, silent.member_id


def lines(server: Server) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
    return [each for each in found if each["event"] in ("rebalanced", "session-expired")]


def test_each_rebalance_and_expired_session_has_a_line(tmp_path: Path) -> None:
    """With the generation, who is there, why, and how long it took."""
    with Server(tmp_path, {"group.min.session.timeout.ms": 500}) as server:
        survivor, silent = story(server)
        told = lines(server)

    assert [each["event"] for each in told] == ["rebalanced", "rebalanced", "session-expired", "rebalanced"]
    assert {(each["group_id"], each["level"]) for each in told} == {(GROUP, "info")}
    assert [(each["generation"], each["members"]) for each in told if "generation" in each] == [(1, 1), (2, 2), (3, 1)]
    assert told[0]["reasons"] == [f"member-joined {survivor}"]
    assert told[1]["reasons"] == [f"member-joined {silent}"]
    assert (told[2]["member_id"], told[2]["session_timeout_ms"]) == (silent, 500)
    assert told[3]["reasons"] == [f"session-timeout {silent}"]
    assert all(each["took_ms"] >= 0 for each in told if "generation" in each)


def test_the_lines_can_be_turned_off(tmp_path: Path) -> None:
    with Server(tmp_path, {"group.min.session.timeout.ms": 500, "log.rebalances": False}) as server:
        story(server)

        assert lines(server) == []
