"""The rules of the pipeline cover every kind, and say of it what its row in kinds.py says."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.kinds import GROUPS, KINDS
from coordinator_server.pipeline.rules import RULES, Folded, Rule, rule_of

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.history.tables import END_OFFSETS, SCHEMAS
from tests.support.kind_logs import LOGS
from tests.support.segments import Batch, encode

ALL = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def test_every_kind_has_a_rule() -> None:
    """And every rule a kind, which is the one under its topic."""
    assert {topic: rule.kind for topic, rule in RULES.items()} == KINDS


def test_every_kind_has_random_logs() -> None:
    """For tests of compaction and verify; those of groups have a module of their own (random_log.py)."""
    assert {GROUPS.topic, *LOGS} == set(KINDS)


@pytest.mark.parametrize("topic", LOGS)
def test_records_of_every_type_change_the_state(topic: str) -> None:
    """Some of them, in a random log: what replay passes over, or the digest leaves out, nobody could verify."""
    serde: Any = KINDS[topic].serde
    state = RULES[topic].state()
    told, counted = state.digest().digest, set()
    for record in (each for batch in LOGS[topic](1, 100, 0) for each in batch.records):
        state.replay(encode(Batch((record,))))
        if state.digest().digest != told:
            told = state.digest().digest
            counted.add(type(serde.decode(record.key, record.value).key))

    assert counted == {declared[0] if isinstance(declared, tuple) else declared for declared in serde.types.values()}


@ALL
def test_a_kind_with_checkpoints_says_what_makes_them(rule: Rule) -> None:
    assert (rule.checkpoint is not None) == rule.kind.has_checkpoint


@ALL
def test_a_state_begins_empty(rule: Rule) -> None:
    """And no state at all has a digest of zeros."""
    state = rule.state()

    assert (len(state), state.digest()[1:], state.contents()) == (0, ("0" * 32, {}), {})


@ALL
def test_what_is_folded_can_be(rule: Rule) -> None:
    """A fold of nothing is nothing."""
    if isinstance(rule.compaction, Folded):
        assert list(rule.compaction.fold(rule.state()).records()) == []


def test_every_table_of_the_history_is_fed() -> None:
    """By the rules together, but for the one that is not from the log; and none is named that does not exist."""
    assert frozenset().union(*(rule.tables for rule in RULES.values())) == SCHEMAS.keys() - {END_OFFSETS}


def test_a_rule_is_found_by_the_name_of_a_shard() -> None:
    assert rule_of("__share_group_state-7").kind.topic == "__share_group_state"
    with pytest.raises(KeyError):
        rule_of("orders-3")
