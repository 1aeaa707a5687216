"""Sequences of commits and of a partition's ends, and what Burrow says of them: python -m tests.support.burrow_sequences CHECKOUT

CHECKOUT is a checkout of github.com/linkedin/Burrow (1.9.5 was used). Its packages are built with ``burrow_verdicts/main.go``, and
their answers written to tests/data/burrow_verdicts.jsonl. Read the diff.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import msgspec

STORED: Final = Path(__file__).parents[1] / "data" / "burrow_verdicts.jsonl"
_PROGRAM: Final = Path(__file__).parent / "burrow_verdicts" / "main.go"
SEEDS: Final = 150
SPARSE_S: Final = 30
"""How often the ends are sampled where they are not sampled at each commit."""

Event = tuple[str, int, int]


class Sequence(NamedTuple):
    """What happens to a partition: ("end", when in ms, end) and ("commit", when, offset), up to a moment."""

    name: str
    now_ms: int
    events: list[Event]


class Behaviour(NamedTuple):
    """A consumer: how long it waits between commits, how fast it reads (records a second), and what happens to it on the way."""

    pause_ms: tuple[int, int]
    reads: tuple[int, int]
    accident: str


BEHAVIOURS: Final = {
    "keeps up": Behaviour((1000, 3000), (1000, 1000), "none"),
    "slow": Behaviour((1000, 3000), (0, 9), "none"),
    "fast commits": Behaviour((100, 600), (0, 40), "none"),
    "now and then": Behaviour((5000, 40_000), (0, 60), "none"),
    "stalls": Behaviour((1000, 3000), (0, 30), "stall"),
    "stops": Behaviour((1000, 3000), (0, 60), "stop"),
    "goes back": Behaviour((1000, 3000), (0, 60), "rewind"),
    "goes back a little": Behaviour((1000, 3000), (10, 60), "small rewind"),
    "begins again": Behaviour((1000, 3000), (20, 1000), "restart"),
}


def sequences(*, is_sparse: bool) -> Iterator[Sequence]:
    """All that are compared. With sparse samples the end at a commit is an older one, or one between two."""
    for name in BEHAVIOURS:
        for seed in range(SEEDS):
            yield _sequence(name, Random(f"{name} {seed}"), f"{name} {seed}", is_sparse=is_sparse)


def _sequence(name: str, random: Random, title: str, *, is_sparse: bool) -> Sequence:
    behaviour = BEHAVIOURS[name]
    now_ms, end, offset = 1_000_000, 1000, random.randint(0, 1000)
    events: list[Event] = [("end", now_ms, end)]
    writes, quiet_from = random.choice([0, 10, 30]), random.randint(2, 40)
    happens_at, sampled_ms, silent = random.randint(2, 30), now_ms, False
    for number in range(random.randint(1, 40)):
        step_ms = random.randint(*behaviour.pause_ms)
        now_ms += step_ms
        end += 0 if number > quiet_from else writes * step_ms // 1000
        sampled_ms = _sample(events, sampled_ms, now_ms, end, is_sparse=is_sparse)
        offset = min(end, offset + random.randint(*behaviour.reads) * step_ms // 1000) if not silent else offset
        if number == happens_at:
            offset, silent = _after(behaviour.accident, random, offset, silent=silent)
        if not (silent and behaviour.accident == "stop"):
            events.append(("commit", now_ms, offset))
    # Burrow judges in whole seconds.
    now_ms += 1000 - now_ms % 1000 + 1000 * random.choice([0, 1, 5, 30, 300])
    events.append(("end", now_ms, end + random.choice([0, 0, 50])))
    return Sequence(title, now_ms, events)


def _sample(events: list[Event], sampled_ms: int, now_ms: int, end: int, *, is_sparse: bool) -> int:
    if is_sparse and now_ms - sampled_ms < SPARSE_S * 1000:
        return sampled_ms
    events.append(("end", now_ms, end))
    return now_ms


def _after(accident: str, random: Random, offset: int, *, silent: bool) -> tuple[int, bool]:
    match accident:
        case "stall" | "stop":
            return offset, True
        case "rewind":
            return max(0, offset - random.randint(100, 5000)), silent
        case "small rewind":
            return max(0, offset - random.randint(1, 30)), silent
        case "restart":
            return 0, silent
    return offset, silent


def ask_burrow(checkout: Path, asked: list[Sequence]) -> list[str]:
    """Return Burrow's verdicts. Raises CalledProcessError."""
    place = checkout / "core" / "verdicts"
    place.mkdir(exist_ok=True)
    shutil.copy(_PROGRAM, place)
    with tempfile.TemporaryDirectory() as directory:
        program = f"{directory}/verdicts"
        subprocess.run(["go", "build", "-C", str(checkout), "-o", program, "./core/verdicts"], check=True)
        lines = b"\n".join(msgspec.json.encode({"now_ms": each.now_ms, "events": each.events}) for each in asked)
        done = subprocess.run([program], input=lines, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split()


def main() -> None:
    """Write what Burrow says."""
    lines = []
    for is_sparse in (False, True):
        asked = [*sequences(is_sparse=is_sparse)]
        told = ask_burrow(Path(sys.argv[1]), asked)
        found = {each.name: verdict for each, verdict in zip(asked, told, strict=True)}
        lines.append(msgspec.json.encode({"is_sparse": is_sparse, "verdicts": found}))
    STORED.write_bytes(b"\n".join(lines) + b"\n")


if __name__ == "__main__":
    main()
