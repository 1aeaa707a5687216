"""The examples of docs/testing.md in Java and Go run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.kafka_jars import do_without, kafka_jars
from tests.support.server import ROOT

# Unlike the tests' own servers, those of the examples are the installed command.
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def example(language: str) -> str:
    [code] = re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs/testing.md").read_text(), re.DOTALL)
    return str(code)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


def test_the_java_example_runs(tmp_path: Path) -> None:
    """It finds the topic that its server was started with, and time goes on. The server ends with it."""
    source = tmp_path / "EphemeralExample.java"
    source.write_text(example("java"))
    if shutil.which("javac") is None:
        do_without("no javac on the PATH: the example has to be compiled, by a JDK 17 or newer")
    options = ("-XX:TieredStopAtLevel=1", "-Dlog4j2.level=OFF", "-cp", f"{kafka_jars()}/*")
    done = run("java", *options, str(source), cwd=tmp_path)

    assert done.stdout.splitlines() == ["[orders]", '{"ok":true}'], done.stderr


def test_the_go_example_runs(tmp_path: Path) -> None:
    """Time goes on, and the server ends without an error when its stdin does."""
    if shutil.which("go") is None:
        do_without("no go on the PATH: the example has to be compiled")
    (tmp_path / "main.go").write_text(example("go"))
    done = run("go", "run", "main.go", cwd=tmp_path)

    address, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"clients connect to 127\.0\.0\.1:\d+", address), done.stderr
    assert rest == ["true", "<nil>"]
