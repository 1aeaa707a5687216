"""The example of docs/testing.md in Java runs as it stands, with Kafka's own client."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.kafka_jars import do_without, kafka_jars
from tests.support.server import ROOT


def test_the_java_example_runs(tmp_path: Path) -> None:
    """It finds the topic that its server was started with, and time goes on. The server ends with it."""
    [code] = re.findall(r"```java\n(.*?)```", (ROOT / "docs/testing.md").read_text(), re.DOTALL)
    source = tmp_path / "EphemeralExample.java"
    source.write_text(code)
    if shutil.which("javac") is None:
        do_without("no javac on the PATH: the example has to be compiled, by a JDK 17 or newer")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    # Unlike the tests' own servers, this one is the installed command.
    command = ["java", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=OFF", "-cp", f"{kafka_jars()}/*", str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)

    assert done.stdout.splitlines() == ["[orders]", '{"ok":true}'], done.stderr
