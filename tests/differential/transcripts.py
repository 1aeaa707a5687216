"""What a real broker answered to each script, in files that people read: tests/data/differential, a file per file of scripts.

== static: fenced at every API, in a stable group [5b1d0c9e]   a script, and a checksum of its lines and of what the servers are
                                                               told
> A join g instance=i [1f0a93c2]                               a line, and a checksum of the request that it sends
0 {"errorCode":79,…}                                           an answer that came with it, and the request that it answers
= {"groups":[…]}                                               what DescribeGroups said then, if it says anything
=                                                              … the same as after the line before
@ g {"key":…}                                                  at the end, the records that the broker wrote for a group

What a broker makes up has names (names.py), so a transcript that is written anew differs only where the broker says something else.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

from tests.support.kafka_jars import VERSION

DIRECTORY: Final = Path(__file__).parents[1] / "data" / "differential"
COMMAND: Final = "make differential ARGS=--record"
NO_STATES: Final[Mapping[str, Any]] = {"groups": []}
# Random sequences, and what is repeated hundreds of times: long, and read by nobody who cannot play them again.
_COMPRESSED: Final = {
    "consumer-sequences",
    "consumer-restarted-sequences",
    "share-state-sequences",
    "share-state-restarted-sequences",
    "share-snapshot-sequences",
    "share-sequences",
    "share-restarted-sequences",
    "streams-sequences",
    "streams-restarted-sequences",
    "scripts/share_flood",
}
_HEAD: Final = "Kafka {} said this; `" + COMMAND + "` asks it again."
_CHECKED: Final = re.compile(r"(.*) \[([0-9a-f]{8}|)\]")


class Told(NamedTuple):
    """What one line brought: answers by the ordinal of their request, and the groups' state."""

    line: str
    request: str
    answers: dict[int, Any]
    states: Any


class Transcript(NamedTuple):
    """One script, told by one broker."""

    checksum: str
    steps: Sequence[Told]
    log: Mapping[str, Sequence[Any]]


def checksum(lines: Sequence[str], conditions: object) -> str:
    """Of a script: a transcript of another one is no transcript of it."""
    return f"{crc32(repr((list(lines), conditions)).encode()):08x}"


class Book:
    """The transcripts of one file of scripts, by title. A file of another broker has none."""

    def __init__(self, name: str, directory: Path = DIRECTORY) -> None:
        self.path = directory / (f"{name}.txt.gz" if name in _COMPRESSED else f"{name}.txt")
        self.transcripts: dict[str, Transcript] = {}
        if self.path.exists():
            head, *lines = self.text.split("\n")
            if head == _HEAD.format(VERSION):
                self.transcripts = dict(_parsed(lines))

    def write(self) -> None:
        """In the order of the dict."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        parts = ["\n".join(_lines(title, transcript)) for title, transcript in self.transcripts.items()]
        data = ("\n\n".join([_HEAD.format(VERSION), *parts]) + "\n").encode()
        self.path.write_bytes(gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data)

    @property
    def text(self) -> str:
        """What the file says."""
        data = self.path.read_bytes()
        return (gzip.decompress(data) if self.path.suffix == ".gz" else data).decode()


def _lines(title: str, transcript: Transcript) -> Iterator[str]:
    yield f"== {title} [{transcript.checksum}]"
    before: Any = NO_STATES
    for step in transcript.steps:
        yield f"> {step.line} [{step.request}]"
        for ordinal, answer in sorted(step.answers.items()):
            yield f"{ordinal} {_json(answer)}"
        if step.states != NO_STATES:
            yield "=" if step.states == before else f"= {_json(step.states)}"
        before = step.states
    for group, records in sorted(transcript.log.items()):
        for record in records:
            yield f"@ {group} {_json(record)}"


def _parsed(lines: Sequence[str]) -> Iterator[tuple[str, Transcript]]:
    part: list[str] = []
    for line in [*lines, "== "]:
        if line.startswith("== "):
            if part:
                yield _transcript(part)
            part = []
        if line:
            part.append(line)


def _transcript(lines: Sequence[str]) -> tuple[str, Transcript]:
    title, checked = _split(lines[0][3:])
    steps: list[Told] = []
    log: dict[str, list[Any]] = {}
    for line in lines[1:]:
        kind, _, rest = line.partition(" ")
        if kind == ">":
            steps.append(Told(*_split(rest), {}, NO_STATES))
        elif kind == "=":
            steps[-1] = steps[-1]._replace(states=json.loads(rest) if rest else steps[-2].states)
        elif kind == "@":
            group, _, record = rest.partition(" ")
            log.setdefault(group, []).append(json.loads(record))
        else:
            steps[-1].answers[int(kind)] = json.loads(rest)
    return title, Transcript(checked, steps, log)


def _split(text: str) -> tuple[str, str]:
    found = _CHECKED.fullmatch(text)
    assert found is not None, f"no checksum: {text}"
    return found[1], found[2]


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
