"""Kafka's own jars, for tests that ask its tools: found, or brought from Maven Central once.

KAFKA_JARS names a directory that has them; else they go to a cache in the home directory. Without Java or Maven such tests are
skipped with one line; under CI nothing is optional, and the line is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.once import CACHE, only_one

VERSION = "4.3.1"
# What runs for seconds has no time to win back what the second compiler takes.
JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
JARS = CACHE / f"kafka-jars-{VERSION}"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>coordinator-server</groupId><artifactId>kafka-tools-for-tests</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-streams</artifactId><version>{VERSION}</version>
<exclusions><exclusion><groupId>org.rocksdb</groupId><artifactId>rocksdbjni</artifactId></exclusion></exclusions></dependency>
<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.24.3</version></dependency>
</dependencies></project>
"""


class NoKafkaJars(Exception):
    """They are not here and can't be brought; the message says what is missing."""


def kafka_jars() -> Path:
    """The directory of the jars, for a test."""
    try:
        return bring_kafka_jars()
    except NoKafkaJars as why:
        do_without(str(why))


def bring_kafka_jars() -> Path:
    """The directory of the jars; raises NoKafkaJars."""
    if shutil.which("java") is None:
        raise NoKafkaJars("no java on the PATH: Kafka's tools need one, 17 or newer")
    named = os.environ.get("KAFKA_JARS")
    if named:
        return Path(named)
    with only_one("kafka-jars"):
        if not _has_jars(JARS):
            _bring(JARS)
    return JARS


def _has_jars(directory: Path) -> bool:
    return all((directory / f"{name}-{VERSION}.jar").exists() for name in ("kafka-tools", "kafka-streams"))


def _bring(directory: Path) -> None:
    if shutil.which("mvn") is None:
        raise NoKafkaJars(
            "no mvn on the PATH to bring Kafka's jars: install Maven, or set KAFKA_JARS to a directory with those of Kafka "
            f"{VERSION}"
        )
    part = directory.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    (part / "pom.xml").write_text(POM)
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={part}"]
    brought = subprocess.run(command, cwd=part, capture_output=True, text=True, timeout=600, check=False)
    if brought.returncode != 0 or not _has_jars(part):
        last = (brought.stdout + brought.stderr).strip().splitlines()[-1:]
        raise NoKafkaJars(f"mvn could not bring Kafka's jars: {' '.join(last)}")
    shutil.rmtree(directory, ignore_errors=True)
    part.rename(directory)


def do_without(why: str) -> NoReturn:
    """A tool is missing: the test is skipped with one line, and fails under CI, where nothing is optional."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
