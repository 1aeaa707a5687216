"""The clients in other languages: each a program of some hundred lines that is built from pinned versions at first use,
into a cache.

Without its tools a client's tests are skipped with one line; under CI nothing is optional, and the line is a failure.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.interop.clients import MemberOptions
from tests.support.kafka_jars import do_without, kafka_jars
from tests.support.once import CACHE, only_one

HERE = Path(__file__).parent
BUILD_TIMEOUT_S = 600
# A member lives for seconds: the first tier of the compiler is all it needs, and several share two cores.
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx128m", "-Dlog4j2.level=ERROR")


def command_of(client: str) -> list[str]:
    """The words that start a client; what it is to be comes behind them."""
    build = _BUILDS.get(client)
    return [sys.executable, "-m", "tests.interop.member", client] if build is None else build()


def share_member(client: str) -> list[str]:
    """The words that start a client's member of a share group; bootstrap, group and topic come behind them."""
    match client:
        case "java":
            return java_command("ShareMember")
        case "franz-go":
            return [*command_of(client), "share"]
    return [sys.executable, "-m", "tests.interop.share_member"]


SHARING = ("java", "confluent-kafka", "franz-go")
"""The clients that have share consumers."""


def java_command(name: str, *words: str) -> list[str]:
    """The words that start a Java program: one of ``java/``, or one of Kafka's own."""
    jars = kafka_jars()
    if shutil.which("javac") is None or shutil.which("jar") is None:
        do_without("no javac on the PATH: the Java client has to be compiled, by a JDK 17 or newer")
    sources = sorted((HERE / "java").glob("*.java"))

    def steps(to: Path) -> list[list[str]]:
        classes = to / "classes"
        return [
            ["javac", "-nowarn", "-d", str(classes), "-cp", f"{jars}/*", *map(str, sources)],
            ["jar", "--create", "--file", str(to / "interop.jar"), "-C", str(classes), "."],
        ]

    home = _built("java", sources, steps)
    classpath = f"{home / 'interop.jar'}{os.pathsep}{jars}/*"
    return ["java", *JVM, f"-XX:SharedArchiveFile={_class_archive(home, classpath)}", "-cp", classpath, name, *words]


def _class_archive(home: Path, classpath: str) -> Path:
    """Classes as the JVM likes them best: a start takes half the processor time.

    A member that finds nobody, and is told to end, loads most.
    """
    archive = home / "classes.jsa"
    if not archive.exists():
        part = home / f"classes.part-{os.getpid()}"
        member = ["Member", "member", "127.0.0.1:1", "g", "t", json.dumps(MemberOptions()._asdict())]
        command = ["java", *JVM, f"-XX:ArchiveClassesAtExit={part}", "-cp", classpath, *member]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=BUILD_TIMEOUT_S, check=False)
        if part.exists():
            part.rename(archive)
    return archive


def _go(program: str) -> Callable[[], list[str]]:
    def build() -> list[str]:
        if shutil.which("go") is None:
            do_without(f"no go on the PATH: {program} needs Go 1.21 or newer (it brings the toolchain that go.mod asks for)")
        home = HERE / "go"
        sources = [*home.glob("go.*"), *home.glob("*/*.go")]
        binaries = _built("go", sources, lambda to: [["go", "build", "-C", str(home), "-o", f"{to}{os.sep}", "./..."]])
        return [str(binaries / program)]

    return build


def _node() -> list[str]:
    if shutil.which("node") is None or shutil.which("npm") is None:
        do_without("no node and npm on the PATH: kafkajs needs Node.js 18 or newer")
    home = HERE / "js"
    sources = [home / "package.json", home / "package-lock.json", home / "member.js"]

    def steps(to: Path) -> list[list[str]]:
        for source in sources:
            shutil.copy(source, to)
        return [["npm", "ci", "--prefix", str(to), "--no-audit", "--no-fund", "--ignore-scripts"]]

    return ["node", str(_built("js", sources, steps) / "member.js")]


_BUILDS: dict[str, Callable[[], list[str]]] = {
    "java": lambda: java_command("Member"),
    "franz-go": _go("franz"),
    "sarama": _go("sarama"),
    "kafkajs": _node,
}
FOREIGN = tuple(_BUILDS)


TESTCONTAINERS = HERE.parents[1] / "examples" / "testcontainers"
TESTCONTAINERS_HOMES = {"java": "java", "franz-go": "go", "kafkajs": "node"}
"""By client, where its example is."""


def example_with_container(client: str) -> list[str]:
    """The words that start the example of examples/testcontainers that uses a client, built with its Testcontainers library."""
    home = TESTCONTAINERS / TESTCONTAINERS_HOMES[client]
    sources = [each for each in home.iterdir() if each.is_file()]

    def steps(to: Path) -> list[list[str]]:
        for source in sources:
            shutil.copy(source, to)
        jars, classes = to / "jars", to / "classes"
        java = [str(each) for each in sorted(to.glob("*.java"))]
        return {
            "java": [
                ["mvn", "-q", "-B", "-f", str(to), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"],
                ["javac", "-nowarn", "-d", str(classes), "-cp", f"{jars}/*", *java],
            ],
            "go": [["go", "build", "-C", str(to), "-o", str(to / "example"), "."]],
            "node": [["npm", "ci", "--prefix", str(to), "--no-audit", "--no-fund", "--ignore-scripts"]],
        }[home.name]

    needed = {"java": "mvn", "go": "go", "node": "npm"}[home.name]
    if shutil.which(needed) is None:
        do_without(f"no {needed} on the PATH: examples/testcontainers/{home.name} has to be built")
    built = _built(f"testcontainers-{home.name}", sources, steps)
    return {
        "java": ["java", *JVM, "-cp", f"{built / 'classes'}{os.pathsep}{built / 'jars'}/*", "Example"],
        "go": [str(built / "example")],
        "node": ["node", str(built / "example.js")],
    }[home.name]


def _built(name: str, sources: list[Path], steps: Callable[[Path], list[list[str]]]) -> Path:
    """The directory of what these sources build, made if it is not there: a directory is there when it is whole."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sorted(sources))).hexdigest()[:12]
    target = CACHE / f"interop-{name}-{digest}"
    with only_one(f"interop-{name}"):
        if not target.is_dir():
            _build(steps, target)
    return target


def _build(steps: Callable[[Path], list[list[str]]], target: Path) -> None:
    part = target.with_suffix(f".part-{os.getpid()}")
    part.mkdir(parents=True)
    for step in steps(part):
        done = subprocess.run(step, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False)
        if done.returncode != 0:
            shutil.rmtree(part)
            raise AssertionError(f"{' '.join(step[:2])} failed:\n{done.stdout}{done.stderr}"[-4000:])
    part.rename(target)
