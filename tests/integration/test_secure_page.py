"""docs/secure.md: its blocks are run as they are printed, and print what the page says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.support.ports import free_port
from tests.support.server import ROOT

PAGE = (ROOT / "docs/secure.md").read_text()
BLOCK = re.compile(r"^```bash\n(?P<commands>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
END = "--- end of a block ---"


def test_the_page_from_nothing_to_a_denied_request(tmp_path: Path) -> None:
    """An ellipsis stands for the rest of a line. A port of the test's own stands for 9093."""
    port = free_port()
    blocks = [(found["commands"], found["printed"]) for found in BLOCK.finditer(PAGE.replace("9093", str(port)))]
    script = "set -e\n" + "".join(f"{commands}echo '{END}'\n" for commands, _ in blocks)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = shell.communicate(timeout=120)
    finally:
        # The server, too, if the page did not come to its end.
        if shell.poll() != 0:
            os.killpg(shell.pid, signal.SIGKILL)

    assert shell.returncode == 0, said
    outputs = said.split(f"{END}\n")
    printed = [(text, output) for (_, text), output in zip(blocks, outputs, strict=False) if text]
    assert len(printed) == 4
    for text, output in printed:
        wanted = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in text.splitlines())
        assert re.search(wanted, output), output
