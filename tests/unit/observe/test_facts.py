"""What is known of the shards of an observed directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import OBSERVED_FACTS
from coordinator_server.observe.dense import dense
from coordinator_server.observe.epochs import EpochStarts
from coordinator_server.observe.facts import Facts, SetAside, ShardFacts, read_facts, write_facts
from tests.support.log import batch
from tests.support.observed import cleaned, in_epoch


def test_facts_are_what_the_headers_say() -> None:
    """Missing are the offsets of gaps and those that a batch has lost; the epochs are those of batches."""
    found = dense(in_epoch(batch(4), 1) + cleaned(5, kept=[6, 7], last=9) + in_epoch(batch(10), 3), 0)
    assert found is not None
    facts = ShardFacts()

    assert facts.add(found.headers)

    assert (facts.upto, facts.missing, facts.missing_to, facts.last_epoch) == (11, 4 + 3, 10, 3)
    assert facts.epochs.starts == [(1, 4), (3, 10)]
    assert not facts.add([])


def test_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    facts = Facts(
        topic_ids={"__consumer_offsets": "x"},
        shards={"__consumer_offsets-0": ShardFacts(7, 2, 5, 1, EpochStarts([(0, 0), (1, 4)]))},
        set_aside=[SetAside("__consumer_offsets-0", 7, 9, "name", 1, "why")],
    )

    write_facts(tmp_path, facts)

    assert read_facts(tmp_path) == facts


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert read_facts(tmp_path) == Facts()


@pytest.mark.parametrize("content", [b"{", b'{"format":2}'])
def test_a_file_that_cannot_be_read_is_said(content: bytes, tmp_path: Path) -> None:
    (tmp_path / OBSERVED_FACTS).write_bytes(content)

    with pytest.raises(LogError, match="move it away"):
        read_facts(tmp_path)


def test_epochs_of_a_log_that_is_cut() -> None:
    epochs = EpochStarts([(0, 0), (2, 10), (5, 20)])

    epochs.cut(20)

    assert epochs.starts == [(0, 0), (2, 10)]
    assert (epochs.end_of(0, 20), epochs.end_of(1, 20), epochs.end_of(2, 20)) == (10, 10, 20)
    assert not epochs.add(1, 20), "an older epoch does not come back"
