"""Make the data directory of a version, by that version, and keep what its server says of it.

    python -m tests.compatibility.make --tree ../other NAME      # tests/data/formats/NAME.tar.xz and NAME.json

The server of that tree runs, is compacted by that tree in the middle, and killed at the end, so that the directory has layers,
segments and journals. The answers are asked from its own server, started once more. A version is added when it changes what it
writes (CONTRIBUTING.md), and none is ever made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from tests.compatibility.life import PROPERTIES, answers, live, live_on
from tests.support.server import ROOT, Server

FORMATS = ROOT / "tests" / "data" / "formats"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="tests.compatibility.make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", help="of the version, as in tests/data/formats")
    parser.add_argument("--tree", type=Path, default=ROOT, help="of the version (default this one)")
    options = parser.parse_args()
    if (FORMATS / f"{options.name}.tar.xz").exists():
        parser.error(f"{options.name} is there: a version's directory is made once")
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), PROPERTIES)
        server.tree = options.tree.absolute()
        with server:
            live(server.address)
            # New segments, which alone are compacted.
            server.stop()
            server.start()
            command = [sys.executable, "-m", "coordinator_server", "compact", "--engine", "python", "--data-dir"]
            subprocess.run([*command, str(server.data_dir)], cwd=server.tree, check=True)
            live_on(server.address)
            server.kill()
            FORMATS.mkdir(exist_ok=True)
            with tarfile.open(FORMATS / f"{options.name}.tar.xz", "w:xz", preset=9) as archive:
                archive.add(server.data_dir, "data", filter=_kept)
            server.start()
            found = answers(server.address)
    (FORMATS / f"{options.name}.json").write_text(_lines(found))


def _lines(found: dict[str, Any]) -> str:
    """An answer a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()) + "\n}\n"


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Files of a process that has ended are left out, and who made the archive."""
    if not (member.isfile() or member.isdir()) or member.name.endswith(".sock"):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
