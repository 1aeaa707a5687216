"""The ends of transactions in their logs: those that are right, and each that is not."""

from __future__ import annotations

import pytest

from protocol.control_records import ABORT, COMMIT
from tests.simulation.ended_transactions import wrong_ends
from tests.support.kafka_partition import marker, of_transaction
from tests.support.mover import TOPIC, Moved, Outcome
from tests.support.segments import offset_key, offset_value

PRODUCER, OFFSET = 7, 5


def log(group_id: str, *ends: int) -> list[bytes]:
    """A shard's log with one transaction, or with as many as there are markers, or with one that is open."""
    part = [(offset_key(group_id, TOPIC, 0), offset_value(OFFSET))]
    batches = [of_transaction(0, PRODUCER, *part)]
    for number, end in enumerate(ends):
        batches += [marker(2 * number + 1, PRODUCER, end), of_transaction(2 * number + 2, PRODUCER, *part)]
    return batches[: 2 * len(ends) or 1]


BOTH = {"a": (COMMIT,), "b": (COMMIT,)}
NEITHER = {"a": (ABORT,), "b": (ABORT,)}
IN_PART = {"a": (COMMIT,), "b": (ABORT,)}
TWICE = {"a": (COMMIT, ABORT), "b": (COMMIT,)}
LOST = {"a": (COMMIT,)}
OPEN: dict[str, tuple[int, ...]] = {"a": (), "b": ()}


@pytest.mark.parametrize(
    ("told", "right", "wrong"),
    [
        (Outcome.COMMITTED, [BOTH], [NEITHER, IN_PART, TWICE, LOST, OPEN]),
        (Outcome.ABORTED, [NEITHER, OPEN], [BOTH, IN_PART, LOST]),
        (Outcome.ABANDONED, [NEITHER, OPEN], [BOTH, IN_PART, LOST]),
        (Outcome.UNKNOWN, [BOTH, NEITHER, LOST], [IN_PART, TWICE]),
    ],
    ids=lambda each: each.value if isinstance(each, Outcome) else "",
)
def test_a_transaction_ends_alike_in_all_its_logs(
    told: Outcome, right: list[dict[str, tuple[int, ...]]], wrong: list[dict[str, tuple[int, ...]]]
) -> None:
    moved = Moved("t", (PRODUCER, 0), OFFSET, ["a", "b"], 0, told)

    found = [bool(list(wrong_ends([moved], [log(group_id, *ends) for group_id, ends in each.items()]))) for each in right + wrong]

    assert found == [False] * len(right) + [True] * len(wrong)
