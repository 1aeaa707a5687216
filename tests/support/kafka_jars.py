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
# Before 4.0 brokers and tools write their log by log4j 1.
OF_LOG4J_1 = ("ch.qos.reload4j:reload4j:1.2.26", "org.slf4j:slf4j-reload4j:1.7.36")
OF_LOG4J_2 = ("org.apache.logging.log4j:log4j-slf4j-impl:2.24.3",)
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>coordinator-server</groupId><artifactId>kafka-tools-for-tests</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
{dependencies}
</dependencies></project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
# Streams runs without its store, a library of C++ that is larger than all the rest.
WITHOUT_ROCKSDB = (
    "<exclusions><exclusion><groupId>org.rocksdb</groupId><artifactId>rocksdbjni</artifactId></exclusion></exclusions>"
)


class NoKafkaJars(Exception):
    """They are not here and can't be brought; the message says what is missing."""


def kafka_jars(version: str = VERSION) -> Path:
    """The directory of the jars, for a test."""
    try:
        return bring_kafka_jars(version)
    except NoKafkaJars as why:
        do_without(str(why))


def bring_kafka_jars(version: str = VERSION) -> Path:
    """The directory of the jars; raises NoKafkaJars."""
    if shutil.which("java") is None:
        raise NoKafkaJars("no java on the PATH: Kafka's tools need one, 17 or newer")
    named = os.environ.get("KAFKA_JARS")
    if named and version == VERSION:
        return Path(named)
    jars = CACHE / f"kafka-jars-{version}"
    with only_one("kafka-jars"):
        if not _has_jars(jars, version):
            _bring(jars, version)
    return jars


def _artifacts(version: str) -> list[str]:
    """What a broker and the tools of a version need, as GROUP:NAME:VERSION."""
    names = ("kafka_2.13", "kafka-tools", "kafka-streams")
    logging = OF_LOG4J_1 if int(version.split(".", maxsplit=1)[0]) < 4 else OF_LOG4J_2
    return [*(f"org.apache.kafka:{name}:{version}" for name in names), *logging]


def _has_jars(directory: Path, version: str) -> bool:
    return all((directory / f"{name}-{version}.jar").exists() for name in ("kafka-tools", "kafka-streams"))


def _bring(directory: Path, version: str) -> None:
    if shutil.which("mvn") is None:
        raise NoKafkaJars(
            "no mvn on the PATH to bring Kafka's jars: install Maven, or set KAFKA_JARS to a directory with those of Kafka "
            f"{VERSION}"
        )
    part = directory.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    lines = [DEPENDENCY.format(*each.split(":"), WITHOUT_ROCKSDB if "streams" in each else "") for each in _artifacts(version)]
    (part / "pom.xml").write_text(POM.format(dependencies="\n".join(lines)))
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={part}"]
    brought = subprocess.run(command, cwd=part, capture_output=True, text=True, timeout=600, check=False)
    if brought.returncode != 0 or not _has_jars(part, version):
        last = (brought.stdout + brought.stderr).strip().splitlines()[-1:]
        raise NoKafkaJars(f"mvn could not bring Kafka's jars: {' '.join(last)}")
    shutil.rmtree(directory, ignore_errors=True)
    part.rename(directory)


def do_without(why: str) -> NoReturn:
    """A tool is missing: the test is skipped with one line, and fails under CI, where nothing is optional."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
