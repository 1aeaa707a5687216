"""A process that holds one Spark session and runs commands of ours on it: what an operator's own program would look like.

A session is one per process, and the tests' own process has another.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from tests.support.server import ROOT

ANSWER_S = 240
_PROGRAM = """
import contextlib, io, json, sys
from coordinator_server.cli import main
from coordinator_server.pipeline.spark.session import session
options = json.loads(sys.argv[1])
with session(options["master"], options["conf"], ship=options["ship"]) as spark:
    print(json.dumps(spark.sparkContext.defaultParallelism), flush=True)
    for line in sys.stdin:
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as complained:
            code = main(json.loads(line))
        print(json.dumps([code, said.getvalue(), complained.getvalue()]), flush=True)
"""


class Done(NamedTuple):
    """What came of a command."""

    code: int
    stdout: str
    stderr: str


class SparkDriver:
    """A context manager; leaving it ends the session."""

    def __init__(self, master: str, conf: Mapping[str, str], *, ship: bool = False, env: Mapping[str, str] | None = None) -> None:
        self._words = [
            sys.executable,
            "-c",
            _PROGRAM,
            json.dumps({"master": master, "conf": dict(conf), "ship": ship}),
        ]
        self._env = env
        self.cores = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._env
        )
        self.cores = self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        _pipe(self._process.stdin).close()
        try:
            self._process.wait(ANSWER_S)
        finally:
            self._process.kill()
            self._process.wait()
            _pipe(self._process.stdout).close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self, *words: str | Path) -> None:
        """Begin a command; ``finish`` waits for it."""
        stdin = _pipe(self._process.stdin)
        stdin.write(json.dumps([str(word) for word in words]) + "\n")
        stdin.flush()

    def finish(self) -> Done:
        """What came of the command that was begun."""
        return Done(*self._answer())

    def run(self, *words: str | Path) -> Done:
        """Run a command to its end."""
        self.start(*words)
        return self.finish()

    def is_running(self) -> bool:
        """Whether the command that was begun has not ended."""
        return not select.select([_pipe(self._process.stdout)], [], [], 0)[0]

    def _answer(self) -> Any:
        stdout = _pipe(self._process.stdout)
        if not select.select([stdout], [], [], ANSWER_S)[0]:
            raise AssertionError(f"no answer within {ANSWER_S} s")
        line = stdout.readline()
        assert line, f"the driver ended with exit code {self._process.wait()}"
        return json.loads(line)


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
