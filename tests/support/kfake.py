"""kfake, franz-go's fake cluster: built from ``bench/kfake`` at first use, and started as a command."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.kafka_jars import do_without
from tests.support.once import CACHE, only_one
from tests.support.server import ROOT

SOURCES = ROOT / "bench/kfake"


def kfake_program() -> Path:
    """Return the program, built unless it is there."""
    if shutil.which("go") is None:
        do_without("no go on the PATH: kfake has to be built")
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in sorted(SOURCES.iterdir()))).hexdigest()[:12]
    program = CACHE / f"kfake-{digest}"
    with only_one("kfake"):
        if not program.exists():
            part = program.with_suffix(f".part-{os.getpid()}")
            subprocess.run(["go", "build", "-C", str(SOURCES), "-o", str(part), "."], check=True, timeout=600)
            part.rename(program)
    return program


@contextmanager
def kfake(settings: Mapping[str, object]) -> Iterator[str]:
    """Run a cluster of one broker with these broker settings. Yield its address."""
    words = [f"{name}={value}" for name, value in settings.items()]
    with subprocess.Popen([kfake_program(), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.communicate()
