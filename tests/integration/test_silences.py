"""A server measures how long members are silent: a question about a shorter session is answered from that."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.client.consumer.subscription import encode_assignment
from coordinator_server.client.offsets import TopicPartition
from tests.support.members import Member
from tests.support.server import Server

GROUP = "readers"


def test_a_member_that_was_silent_would_have_been_put_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It commits nothing, and its session is ten seconds. What is asked of the page is the same."""
    with Server(tmp_path, {"group.min.session.timeout.ms": 500}) as server:
        member = Member(server.address, GROUP)
        member.start_join()
        member.finish_join()
        member.sync({member.member_id: encode_assignment([TopicPartition(GROUP, 0)])})
        time.sleep(1.5)
        member.heartbeat()
        member.leave()
        data = server.data_dir

    def judged(session: str) -> tuple[object, object]:
        assert main(["groups", "what-if", GROUP, "--session-timeout", session, "--json", "--data-dir", str(data)]) == 0
        verdict = json.loads(capsys.readouterr().out)["verdict"]
        return verdict["silences"], verdict["what_if"]["rebalances"]["certainty"]

    assert judged("1s") == (1, "bound")
    assert judged("5s") == (0, "known")
    assert judged("400ms") == (None, "unknown"), "it is shorter than what was measured"
