"""The history on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from coordinator_server.cli import main
from tests.support.segments import coordinator_log, write_meta, write_segments


def test_spark_adds_the_rows_that_one_process_adds(tmp_path: Path, capsys: Any) -> None:
    """From the command line; and pandas reads the folders as they are, with the columns that their names say."""
    data = tmp_path / "data"
    data.mkdir()
    write_meta(data)
    for number in (0, 7, 13, 14):
        write_segments(data / f"__consumer_offsets-{number}", coordinator_log(number, 60))

    assert main(["history", "--data-dir", str(data), "--out", str(tmp_path / "spark"), "--master", "local[2]"]) == 0
    assert main(["history", "--data-dir", str(data), "--out", str(tmp_path / "python"), "--engine", "python"]) == 0

    spark, python = (_read(tmp_path / engine) for engine in ("spark", "python"))
    assert capsys.readouterr().out.count(" commits, ") == 2
    assert len(spark) > 1000
    pd.testing.assert_frame_equal(spark, python)
    assert set(spark["shard_group"].astype(int)) == {0, 1}


def _read(out: Path) -> pd.DataFrame:
    table = pd.read_parquet(out / "commits").sort_values(["shard", "log_offset"]).reset_index(drop=True)
    return table.astype({"shard_group": str, "day": str})
