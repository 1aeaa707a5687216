"""The job that removes history from a database goes on after any failure, and says which."""

from __future__ import annotations

import pytest

from coordinator_server.log.errors import Fenced, LockedLog, LogError, Unavailable
from coordinator_server.log.postgresql import retention
from coordinator_server.log.postgresql.retention import StoreRetention
from coordinator_server.log.store import History, RetentionRule
from coordinator_server.log.store_paths import StoreName
from tests.support.log import ManualWorker


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Unavailable("the database is away"), ["the database is away"]),
        (LogError("no right to truncate"), ["no right to truncate"]),
        (LockedLog("another process makes layers in this database"), []),
        (Fenced("another node has claimed it"), []),
    ],
)
def test_a_failure_is_told_unless_somebody_else_is_at_work(
    error: LogError, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next check comes in either case."""
    failed: list[Exception] = []
    checks: list[StoreName] = []
    worker = ManualWorker()

    def broken(name: StoreName) -> None:
        checks.append(name)
        raise error

    monkeypatch.setattr(retention, "job_log", broken)
    rule = RetentionRule(1, lambda _removed: None, failed.append, lambda: 0, worker)
    StoreRetention(StoreName("postgresql://db/coordinator"), lambda: True, History(0), rule).start()
    for _ in range(2):
        worker.pass_time()
        worker.step()

    assert len(checks) == 2
    assert [str(each) for each in failed] == told * 2
