"""A log directory that a real broker wrote, and what the broker answered before it was stopped: made anew, or the one that is kept.

``python -m tests.support.kafka_log`` (``make kafkalog``) makes it anew and keeps it, without the parts that nobody imports.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.kafka_history import (
    FIRST_START,
    SECOND_START,
    answers,
    await_groups,
    first_life,
    roll,
    second_life,
)

KEPT: Final = Path(__file__).resolve().parents[1] / "data" / "kafka" / "log.tar.xz"
ANSWERS: Final = "answers.json"
# Preallocated indexes and the data of the topics are neither read nor kept.
_KEPT_TOPICS: Final = ("__consumer_offsets-", "__cluster_metadata-", "__transaction_state-", "__share_group_state-")
_LARGEST_KEPT: Final = 64 * 1024


class KafkaLog(NamedTuple):
    """``log_dir`` is one of a stopped broker's log.dirs."""

    log_dir: Path
    answers: dict[str, Any]


def kept_log(directory: Path) -> KafkaLog:
    """The one of tests/data, unpacked."""
    with tarfile.open(KEPT) as archive:
        # Python before 3.11.4 has no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(directory)
    return KafkaLog(directory, json.loads((directory / ANSWERS).read_text()))


def make_log(broker: KafkaBroker, *, is_killed: bool = False) -> KafkaLog:
    """Two lives of a broker, with cleaned, compressed and transactional batches; it is stopped in the end, or killed."""
    broker.start(FIRST_START)
    try:
        _staying = first_life(broker.address)
        with broker.client() as client:
            rounds = iter(range(1000))

            def is_cleaned() -> bool:
                roll(client, next(rounds))
                time.sleep(0.4)
                return len({path.parent for path in broker.log_dir.glob("__consumer_offsets-*/*.log.deleted")}) >= 3

            eventually(is_cleaned)
    finally:
        broker.stop()
    broker.start(SECOND_START)
    try:
        second_life(broker.address)
        with broker.client() as client:
            await_groups(client, ("stable-crew", "consumer-crew", "late", "noted", *(f"simple-{number}" for number in range(12))))
            told: dict[str, Any] = json.loads(json.dumps(answers(client)))
    finally:
        if is_killed:
            broker.kill()
        else:
            broker.stop()
    return KafkaLog(broker.log_dir, told)


def keep(log: KafkaLog, target: Path) -> None:
    """Pack what an import looks at."""
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for path in sorted(log.log_dir.rglob("*")):
            name = path.relative_to(log.log_dir)
            is_wanted = len(name.parts) == 1 or name.parts[0].startswith(_KEPT_TOPICS)
            if path.is_file() and path.name != ".lock" and is_wanted and path.stat().st_size <= _LARGEST_KEPT:
                archive.add(path, str(name), filter=_anonymous)
        data = json.dumps(log.answers, indent=1, sort_keys=True).encode()
        entry = tarfile.TarInfo(ANSWERS)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def main() -> int:
    directory = Path(tempfile.mkdtemp(prefix="kafka-log-"))
    try:
        with KafkaBroker(directory) as broker:
            keep(make_log(broker), KEPT)
    finally:
        shutil.rmtree(directory)
    sys.stdout.write(f"{KEPT.name}: {KEPT.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
