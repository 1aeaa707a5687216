"""The history on Spark."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from coordinator_server.transaction.state import TransactionState
from tests.support.consumer_history import write_consumer_log
from tests.support.consumer_records import rebalance
from tests.support.kind_logs import share_log
from tests.support.segments import coordinator_log, write_segments
from tests.support.transaction_logs import OFFSETS, SHARD, Log, opened, then, write_properties

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from tests.support.spark_driver import SparkDriver


def test_spark_adds_the_rows_that_one_process_adds(jobs: SparkDriver, tmp_path: Path) -> None:
    """And pandas reads the folders as they are, with the columns that their names say."""
    data = tmp_path / "data"
    data.mkdir()
    write_properties(data)
    write_transactions(data)
    for number in (0, 7, 13, 14):
        write_segments(data / f"__consumer_offsets-{number}", coordinator_log(number, 60))

    write_consumer_log(data, rebalance("g"), "__consumer_offsets-22")
    for number in (3, 14):
        write_segments(data / f"__share_group_state-{number}", share_log(number, 40))

    said = history(jobs, data, tmp_path / "spark") + history(jobs, data, tmp_path / "python", "--engine", "python")

    spark, python = (_read(tmp_path / engine) for engine in ("spark", "python"))
    assert said.count(" commits, ") == 2
    assert len(spark) > 1000
    pd.testing.assert_frame_equal(spark, python)
    ended, expected = (_read(tmp_path / engine, "transactions") for engine in ("spark", "python"))
    pd.testing.assert_frame_equal(ended, expected)
    assert [[each["group_id"] for each in groups] for groups in ended["groups"]] == [["g", "h"]]
    steps, expected = (_read(tmp_path / engine, "reconciliations") for engine in ("spark", "python"))
    pd.testing.assert_frame_equal(steps, expected)
    assert {part["topic"] for row in steps["partitions"] for part in row} == {"orders"}
    shared, expected = (_read(tmp_path / engine, "share_state") for engine in ("spark", "python"))
    pd.testing.assert_frame_equal(shared, expected)
    assert len(shared) == 80
    assert set(spark["shard_group"].astype(int)) == {0, 1}
    # They say who did what, as the log does.
    written = [path for engine in ("spark", "python") for path in (tmp_path / engine).rglob("*")]
    assert len(written) > 20
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def history(jobs: SparkDriver, data: Path, out: Path, *options: str) -> str:
    done = jobs.run("history", "--data-dir", data, "--out", out, *options)
    assert (done.code, done.stderr) == (0, "")
    return done.stdout


def write_transactions(data: Path) -> None:
    """One transaction that has completed."""
    ids, groups, one = Log(), Log(), opened(1)
    ids.state(1, None, one)
    groups.commit(1, ["g", "h"])
    ids.state(2, None, then(one, TransactionState.PREPARE_COMMIT, 1))
    groups.marker(2)
    ids.state(3, None, then(one, TransactionState.COMPLETE_COMMIT, 1))
    ids.write(data / SHARD)
    groups.write(data / OFFSETS)


def _read(out: Path, name: str = "commits") -> pd.DataFrame:
    table = pd.read_parquet(out / name).sort_values(["shard", "log_offset"]).reset_index(drop=True)
    return table.astype({"shard_group": str, "day": str})
