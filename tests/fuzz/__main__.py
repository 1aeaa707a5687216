"""Coverage-guided fuzzing of everything in ``tests/fuzz/targets.py``, with atheris (the ``fuzz`` extra).

    python -m tests.fuzz CORPUS [-runs=2000000 -max_len=512 …]       # libFuzzer's own arguments

CORPUS is a directory that is read and grown; it starts from the kept inputs of tests/data/fuzz. A finding stops the run and
leaves a file ``crash-…``: once the fault is mended, add it to the kept inputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["protocol"]):
    from protocol.codec import decoders
    from protocol.schema import all_messages
    from tests.fuzz import corpus, targets

    for message in all_messages():
        decoders(message)  # imports the generated module


def main() -> None:
    corpus_dir = Path(sys.argv[1])
    corpus_dir.mkdir(parents=True, exist_ok=True)
    for index, data in enumerate([*targets.seeds(), *corpus.kept()]):
        (corpus_dir / f"seed-{index:05}").write_bytes(data)
    atheris.Setup(sys.argv, targets.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
