"""The job of all groups on Spark."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from tests.support.group_lives import ModernGroup
from tests.support.life_directory import write_life
from tests.support.segments import coordinator_log, write_segments
from tests.support.spark_driver import SparkDriver


def test_spark_writes_the_rows_that_one_process_writes(jobs: SparkDriver, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_life(data, ModernGroup(4, None).live(12))
    for number in (0, 13):
        write_segments(data / f"__consumer_offsets-{number}", coordinator_log(number, 60))
    tables = []
    for engine in ("spark", "python"):
        out = tmp_path / engine
        done = jobs.run("pipeline", "what-if", "--data-dir", data, "--out", out, "--engine", engine)
        assert (done.code, done.stderr) == (0, "")
        tables.append(pd.read_parquet(out / "what_if.parquet"))

    pd.testing.assert_frame_equal(*tables)
    assert {"g", "group-1"} < set(tables[0]["group"])
