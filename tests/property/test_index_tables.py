"""What an index has beside the chunks of groups is what the whole log says: members, activity, transactions, share partitions, lag.

However much of it the index has read, in whatever runs, and wherever its writer was stopped. ``PIPELINE_EXAMPLES=5000`` draws more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.pipeline.index import writer as writing
from coordinator_server.pipeline.index.tables import end_offsets
from tests.support.index import SHARD, Killed
from tests.support.index_tables import (
    comparable_share,
    make_whole_directory,
    of_index,
    of_log,
    sample,
    transaction_logs,
    update_all,
)
from tests.support.kind_logs import share_log
from tests.support.random_log import end_of, logs, write_log
from tests.support.segments import write_segments

EXAMPLES: Final = int(os.environ.get("PIPELINE_EXAMPLES", "20"))
TRANSACTIONS: Final = "__transaction_state-0"
SHARE: Final = "__share_group_state-0"


class Plan(NamedTuple):
    """A log of each topic; how far runs before the last one read each, which need not be in order; and when they were killed."""

    groups: list[bytes]
    transactions: list[bytes]
    seed: int
    cuts: list[tuple[int, int, int]]
    samples: list[tuple[int, list[int]]]
    kills: list[int]


_plans = st.builds(
    Plan,
    logs(20),
    transaction_logs(),
    st.integers(0, 1000),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(0, 30)), max_size=3),
    st.lists(
        st.tuples(st.integers(0, 110), st.lists(st.integers(0, 200), min_size=3, max_size=3)), max_size=4, unique_by=itemgetter(0)
    ).map(sorted),
    st.lists(st.integers(0, 60), max_size=2),
)


def end_at(batches: Sequence[bytes], cut: int) -> int:
    return end_of(batches[min(cut, len(batches) - 1)]) if batches else 0


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_plans)
def test_the_tables_of_an_index_say_what_the_log_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    data = make_whole_directory(tmp_path)
    write_log(data / SHARD, plan.groups, 3)
    if plan.transactions:
        write_log(data / TRANSACTIONS, plan.transactions, 2)
    share = write_segments(data / SHARE, share_log(plan.seed, 16), 2)
    monkeypatch.setattr(writing, "FLUSH_BYTES", 400)
    monkeypatch.setattr(end_offsets, "FEW", 1)
    samples = iter(plan.samples)
    for of_groups, of_transactions, of_share in plan.cuts:
        for second, ends in islice(samples, 1):
            sample(data, second, ends)
        cut = {SHARD: end_at(plan.groups, of_groups), TRANSACTIONS: end_at(plan.transactions, of_transactions)}
        update_all(data, cut | {SHARE: min(share, of_share // 4 * 4)}, 300)
    for second, ends in samples:
        sample(data, second, ends)
    last = {SHARD: end_at(plan.groups, 99), TRANSACTIONS: end_at(plan.transactions, 99), SHARE: share}
    for left in plan.kills:
        with suppress(Killed):
            update_all(data, last, 300, left)
    update_all(data, last, 300)

    found, expected = of_index(data), of_log(data, last)
    ours, theirs = comparable_share(found.pop("share"), found.pop("minutes"), expected.pop("share"), expected.pop("minutes"))
    assert ours == theirs
    assert found == expected
