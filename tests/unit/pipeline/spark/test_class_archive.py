"""The archive of Spark's classes: made once, used when it is there, gone when nobody uses it. The JVM's part is in tests/spark."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from coordinator_server.pipeline.spark.class_archive import UNUSED_S, ClassArchive, cache_directory


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    path = tmp_path / "jars"
    path.mkdir()
    (path / "spark-core.jar").write_bytes(b"1" * 10)
    return path


def written(archive: ClassArchive) -> Path:
    """Do what a JVM does with the option."""
    name, _, part = archive.option(make=True).partition("=")
    assert name == "-XX:ArchiveClassesAtExit"
    Path(part).write_bytes(b"classes")
    return Path(part)


def test_a_class_archive_is_made_once_and_used_by_later_sessions(tmp_path: Path, jars: Path) -> None:
    """It has its name only when it is whole; and nobody makes it unasked."""
    assert ClassArchive(tmp_path / "cache", "17", jars).option() == ""
    first = ClassArchive(tmp_path / "cache", "17", jars)
    part = written(first)
    assert "ArchiveClassesAtExit" in ClassArchive(tmp_path / "cache", "17", jars).option(make=True)

    first.finish(is_whole=True)

    option = ClassArchive(tmp_path / "cache", "17", jars).option()
    assert option.startswith(f"-XX:SharedArchiveFile={tmp_path / 'cache'}/spark-")
    assert not part.exists()


def test_a_jvm_that_was_killed_leaves_nothing(tmp_path: Path, jars: Path) -> None:
    """Half an archive is none."""
    archive = ClassArchive(tmp_path / "cache", "17", jars)
    written(archive)

    archive.finish(is_whole=False)

    assert not list((tmp_path / "cache").iterdir())


def test_another_java_or_spark_has_another(tmp_path: Path, jars: Path) -> None:
    """It is no use to them."""
    first = ClassArchive(tmp_path / "cache", "17", jars)
    written(first)
    first.finish(is_whole=True)

    assert "AtExit" in ClassArchive(tmp_path / "cache", "21", jars).option(make=True)
    (jars / "spark-core.jar").write_bytes(b"2" * 11)
    assert "AtExit" in ClassArchive(tmp_path / "cache", "17", jars).option(make=True)


def test_a_new_class_archive_removes_unused_ones(tmp_path: Path, jars: Path) -> None:
    """When another is made; those in use stay."""
    for java, age_s in (("17", UNUSED_S + 60), ("21", 0.0), ("25", 0.0)):
        archive = ClassArchive(tmp_path / "cache", java, jars)
        written(archive)
        archive.finish(is_whole=True)
        for path in (tmp_path / "cache").glob("*.jsa"):
            if age_s:
                os.utime(path, (time.time() - age_s,) * 2)

    assert len(list((tmp_path / "cache").iterdir())) == 2
    assert "AtExit" in ClassArchive(tmp_path / "cache", "17", jars).option(make=True)


def test_spark_starts_without_a_class_archive_that_cannot_be_written(tmp_path: Path, jars: Path) -> None:
    """Spark starts without."""
    (tmp_path / "cache").write_text("a file")
    archive = ClassArchive(tmp_path / "cache", "17", jars)

    assert archive.option(make=True) == ""
    archive.finish(is_whole=True)


def test_the_cache_is_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where XDG says."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")

    assert cache_directory() == Path("/somewhere/coordinator-server")
