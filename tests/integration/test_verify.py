"""``log verify`` beside a server that is busy: its journal turns, its segments roll, and nothing that moves is taken for damage."""

from __future__ import annotations

import threading
from pathlib import Path

from coordinator_server.log.repair.check import check
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import commit_alone

ROUNDS = 6


def test_beside_a_busy_server(tmp_path: Path) -> None:
    """Every round reads a directory that is another one when it has been read."""
    overrides = {"topics": "orders:50", "log.journal.bytes": 1 << 16, "offsets.topic.segment.bytes": 1 << 16}
    is_over = threading.Event()
    with Server(tmp_path, overrides) as server:

        def load(group: str) -> None:
            with Client(server.address) as client:
                offset = 0
                while not is_over.is_set():
                    offset += 1
                    codes = commit_alone(client, group, "orders", dict.fromkeys(range(50), offset))
                    assert set(codes.values()) == {ErrorCode.NONE}

        threads = [threading.Thread(target=load, args=(f"readers-{number}",)) for number in range(3)]
        for each in threads:
            each.start()
        try:
            eventually(lambda: check(str(server.data_dir)).records > 2000)
            reports = [check(str(server.data_dir)) for _ in range(ROUNDS)]
        finally:
            is_over.set()
            for each in threads:
                each.join()

    assert [report.damage for report in reports] == [[]] * ROUNDS
    assert all(report.is_served for report in reports)
    assert reports[0].records < reports[-1].records
