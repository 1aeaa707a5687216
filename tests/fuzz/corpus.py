"""The kept inputs: one line of hex each, in tests/data/fuzz/inputs.txt. What once failed stays; so does what reaches far.

python -m tests.fuzz.corpus CORPUS      # keep the inputs of a (minimised) corpus directory as well
"""

from __future__ import annotations

import sys
from pathlib import Path

KEPT = Path(__file__).parent.parent / "data" / "fuzz" / "inputs.txt"


def kept() -> list[bytes]:
    return [bytes.fromhex(line) for line in KEPT.read_text().splitlines()]


def keep(directory: Path) -> int:
    """Add the inputs of a directory; how many there are now."""
    found = {path.read_bytes() for path in directory.iterdir()}
    lines = sorted({data.hex() for data in found | set(kept())})
    KEPT.write_text("".join(line + "\n" for line in lines))
    return len(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{keep(Path(sys.argv[1]))} inputs\n")
