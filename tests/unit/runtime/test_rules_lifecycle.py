"""INITIAL → LOADING → ACTIVE → CLOSED | FAILED, guarded by epochs."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import DamagedLog, Fenced
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.context import ShardState
from protocol.error_codes import ErrorCode
from tests.support.runtime import TOPIC, MemoryStore, ToyRuntime, toy_record


@pytest.fixture
def new() -> ToyRuntime:
    return ToyRuntime()


def written(count: int, per_batch: int = 100) -> MemoryStore:
    """A log of ``count`` batches."""
    toy = ToyRuntime()
    toy.load()
    for number in range(count):
        toy.put_all([f"{number}-{n}" for n in range(per_batch)])
        toy.flush()
    return toy.store


def write_as_another_owner(store: MemoryStore, name: str) -> None:
    """Another process loads partition 0 at epoch 2, and writes a record."""
    other = ToyRuntime(store=store)
    other.load(epoch=2)
    other.put(name)
    other.flush()
    other.runtime.close()


def damaged(toy: ToyRuntime) -> ToyRuntime:
    toy.store.damage = DamagedLog("x.log", 7, "crc")
    return toy


def test_a_partition_that_is_not_here_is_not_coordinated(new: ToyRuntime) -> None:
    assert new.put("a").error == ErrorCode.NOT_COORDINATOR
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        new.number("a")


def test_loading_is_asked_before_ownership(new: ToyRuntime) -> None:
    new.runtime.load(0, 1)

    assert new.state() is ShardState.LOADING
    assert new.put("a").error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_load_replays_the_log_and_goes_on_at_its_end(toy: ToyRuntime) -> None:
    toy.put("a", 1)
    toy.put("a", 2)
    toy.put("?of a later version", 3)
    toy.flush()

    after = ToyRuntime(store=toy.store)
    shard = after.load()
    assert dict(shard.numbers) == {"a": 2}
    assert (shard.life, after.state()) == (["loaded"], ShardState.ACTIVE)
    after.put("b")
    after.flush()
    assert after.store.names() == ["a", "a", "?of a later version", "b"]


def test_a_long_log_is_loaded_between_other_work_of_the_loop() -> None:
    toy = ToyRuntime(store=written(50))
    toy.runtime.load(0, 1)
    turns = 0
    while toy.state() is ShardState.LOADING:
        toy.turn()
        turns += 1

    assert turns > 2
    assert len(toy.shards[0].numbers) == 5000


def test_load_reports_progress() -> None:
    toy = ToyRuntime(store=written(50))
    toy.runtime.load(0, 1)
    seen = []
    while toy.state() is ShardState.LOADING:
        seen.append(toy.runtime.records_loaded)
        toy.turn()

    assert seen == sorted(set(seen))
    assert (seen[0], toy.runtime.records_loaded) == (0, 5000)


def test_load_during_load_is_one_load_if_nobody_owned_the_shard_between(new: ToyRuntime) -> None:
    told: list[ErrorCode] = []
    new.runtime.load(0, 1, told.append)
    new.runtime.load(0, 1, told.append)
    new.runtime.load(0, 2, told.append, ours_since=1)
    new.turn()

    assert len(new.shards) == 1
    # The second call brought no newer epoch, and was ignored.
    assert told == [ErrorCode.NONE] * 2


@pytest.mark.parametrize("ours_since", [None, 1])
def test_a_newer_epoch_during_a_load_counts_from_then_on(new: ToyRuntime, ours_since: int | None) -> None:
    new.runtime.load(0, 1)
    new.runtime.load(0, 3, ours_since=ours_since)
    for _turn in range(2):
        new.turn()
    new.runtime.unload(0, 2)

    assert new.state() is ShardState.ACTIVE


def test_a_newer_epoch_during_a_load_begins_it_again() -> None:
    """What was read may be older than the other owner's last records. Who waits for the first load hears of the second."""
    toy = ToyRuntime(store=written(50))
    told: list[ErrorCode] = []
    toy.runtime.load(0, 1, told.append)
    toy.turn()
    write_as_another_owner(toy.store, "late")
    toy.runtime.load(0, 3, told.append)
    while toy.state() is ShardState.LOADING:
        assert not told
        toy.turn()

    assert (toy.shards[0].life, toy.shards[1].life, told) == ([], ["loaded"], [ErrorCode.NONE] * 2)
    assert (toy.number("late"), len(toy.shards[1].numbers)) == (1, 5001)


@pytest.mark.parametrize("ours_since", [None, 0])
@pytest.mark.parametrize("epoch", [0, 1])
def test_a_load_at_an_older_or_equal_epoch_is_ignored(toy: ToyRuntime, epoch: int, ours_since: int | None) -> None:
    toy.runtime.load(0, epoch, ours_since=ours_since)
    toy.turn()

    assert len(toy.shards) == 1
    assert not toy.put("a").is_answered


@pytest.mark.parametrize("epoch", [0, 1])
def test_an_unload_at_an_older_or_equal_epoch_is_ignored(toy: ToyRuntime, epoch: int) -> None:
    toy.runtime.unload(0, epoch)

    assert toy.state() is ShardState.ACTIVE


@pytest.mark.parametrize("epoch", [2, None])
def test_an_unload_at_a_newer_epoch_or_at_none_counts(toy: ToyRuntime, epoch: int | None) -> None:
    toy.runtime.unload(0, epoch)

    assert toy.state() is None
    assert toy.put("a").error == ErrorCode.NOT_COORDINATOR


def test_an_active_shard_loads_again_at_a_newer_epoch(toy: ToyRuntime) -> None:
    """Another owner may have written between: what this one knows is old, and what it parked is not written."""
    told: list[ErrorCode] = []
    toy.put("a")
    toy.flush()
    write_as_another_owner(toy.store, "b")
    parked = toy.put("lost")
    toy.runtime.load(0, 3, told.append)
    refused = (parked.error, toy.put("c").error)
    toy.turn()

    assert refused == (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    assert (toy.shards[0].life, toy.shards[1].life, told) == (["loaded", "unloaded"], ["loaded"], [ErrorCode.NONE])
    assert (toy.number("a"), toy.number("b"), toy.number("lost")) == (1, 1, None)
    toy.put("d")
    toy.turn()
    assert toy.store.open is not None
    assert [(append.epoch, append.expected_offset) for append in toy.store.open[0]] == [(3, 2)]


def test_a_reload_waits_for_what_the_shard_has_submitted(toy: ToyRuntime) -> None:
    """Whether it is in the log is not known before. The store's word to the old epoch does not concern the new one."""
    outcome = toy.put("a")
    toy.turn()
    toy.runtime.load(0, 2)
    toy.turn()
    assert (outcome.error, toy.state()) == (ErrorCode.NOT_COORDINATOR, ShardState.LOADING)

    toy.store.finish({ShardId(TOPIC, 0): Fenced("epoch 2")})
    toy.turn()
    assert (toy.state(), toy.number("a")) == (ShardState.ACTIVE, None)


@pytest.mark.parametrize(("ours_since", "shards"), [(4, 1), (3, 1), (5, 2)])
def test_a_shard_goes_on_at_a_newer_epoch_if_it_is_no_older_than_the_stores_word(ours_since: int, shards: int) -> None:
    """``ours_since`` 5: somebody owned the shard between its own epoch 4 and 5."""
    toy = ToyRuntime()
    toy.load(epoch=4)
    toy.runtime.load(0, 6, ours_since=ours_since)
    toy.turn()

    assert (toy.state(), len(toy.shards)) == (ShardState.ACTIVE, shards)


def test_an_active_shard_takes_a_newer_epoch_over_and_goes_on_if_nobody_owned_it_between(toy: ToyRuntime) -> None:
    told: list[ErrorCode] = []
    outcome = toy.put("a")
    toy.runtime.load(0, 5, told.append, ours_since=1)
    toy.turn()
    assert toy.store.open is not None
    assert [append.epoch for append in toy.store.open[0]] == [5]

    toy.store.finish()
    assert (outcome.response, told, len(toy.shards)) == ("a", [ErrorCode.NONE], 1)


def test_unload_during_load_wins() -> None:
    toy = ToyRuntime(store=written(50))
    told: list[ErrorCode] = []
    toy.runtime.load(0, 1, told.append)
    toy.turn()
    toy.runtime.unload(0, 2)
    for _turn in range(5):
        toy.turn()

    assert toy.put("a").error == ErrorCode.NOT_COORDINATOR
    assert (toy.shards[0].life, told) == ([], [ErrorCode.NOT_COORDINATOR])


def test_a_load_after_an_unload_starts_from_a_fresh_context(toy: ToyRuntime) -> None:
    toy.put("a", 1)
    toy.flush()
    toy.shards[0].numbers["of the past"] = 9
    toy.runtime.unload(0)
    shard = toy.load(epoch=1)

    assert shard is toy.shards[1]
    assert dict(shard.numbers) == {"a": 1}


def test_a_load_waits_until_what_the_last_owner_here_submitted_is_durable_or_not(toy: ToyRuntime) -> None:
    """Else it would begin at an end of the log that is not the end."""
    toy.put("in flight", 1)
    toy.turn()
    toy.runtime.unload(0)
    toy.runtime.load(0, 2)
    for _turn in range(3):
        toy.turn()
    assert toy.state() is ShardState.LOADING

    toy.store.finish()
    toy.turn()
    assert toy.number("in flight") == 1
    toy.put("next")
    toy.flush()
    assert toy.store.names() == ["in flight", "next"]


def test_unload_refuses_everything_parked_once(toy: ToyRuntime) -> None:
    in_flight = toy.put("a")
    toy.turn()
    open_batch = toy.put("b")
    waiting = toy.write(lambda shard, reply: CoordinatorResult("c"))
    toy.runtime.unload(0, 2)
    toy.store.finish()

    outcomes = (in_flight, open_batch, waiting)
    assert [(outcome.error, outcome.answers) for outcome in outcomes] == [(ErrorCode.NOT_COORDINATOR, 1)] * 3
    assert toy.store.names() == ["a"]
    assert toy.flusher.is_idle


def test_unload_drops_soft_state_after_what_was_parked_has_its_answer(toy: ToyRuntime) -> None:
    heard: list[object] = []
    toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)], lambda error: heard.append(shard.life[-1])))
    toy.runtime.unload(0)

    assert heard == ["loaded"]
    assert toy.shards[0].life == ["loaded", "unloaded"]


def test_an_unload_that_breaks_is_an_unload_all_the_same(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.shards[0].breaks_when.add("unloaded")
    toy.runtime.close()

    assert (toy.state(0), toy.state(1)) == (None, None)
    assert toy.shards[1].life == ["loaded", "unloaded"]


def test_an_answer_that_breaks_during_an_unload_costs_the_others_nothing(toy: ToyRuntime) -> None:
    def break_down(error: ErrorCode | None) -> None:
        raise RuntimeError("a bug")

    toy.write(lambda shard, reply: CoordinatorResult("broken", [toy_record("a", 1)], break_down))
    other = toy.put("b")
    toy.runtime.unload(0)

    assert other.error == ErrorCode.NOT_COORDINATOR


def test_a_failed_load_answers(new: ToyRuntime) -> None:
    told: list[ErrorCode] = []
    damaged(new).runtime.load(0, 1, told.append)
    new.turn()

    assert told == [ErrorCode.NOT_COORDINATOR]
    assert new.state() is ShardState.FAILED
    assert new.put("a").error == ErrorCode.NOT_COORDINATOR
    assert new.shards[0].life == []


def test_a_failed_load_is_told_with_its_stack_only_if_it_is_a_bug(new: ToyRuntime) -> None:
    """Damage names a file, and where the code met it does not matter."""
    with capture_logs() as lines:
        damaged(new).load()
        new.store.damage = None
        new.runtime.load(1, 1)
        new.shards[1].breaks_when.add("loaded")
        new.turn()

    assert [(line["event"], line["shard"], line["exc_info"]) for line in lines] == [
        ("shard-load-failed", f"{TOPIC}-0", False),
        ("shard-load-failed", f"{TOPIC}-1", True),
    ]


def test_a_failed_load_is_not_repeated_at_its_epoch(new: ToyRuntime) -> None:
    damaged(new).load()
    new.store.damage = None
    new.load(epoch=1)

    assert new.state() is ShardState.FAILED


def test_after_a_failed_load_a_later_epoch_starts_from_a_fresh_context(new: ToyRuntime) -> None:
    new.store.logs[ShardId(TOPIC, 0)] = written(1, per_batch=2).logs[ShardId(TOPIC, 0)]
    new.store.ends[ShardId(TOPIC, 0)] = 2
    damaged(new).load()
    assert len(new.shards[0].numbers) == 2
    new.store.damage = None
    new.runtime.load(0, 2, ours_since=1)
    new.turn()
    shard = new.shards[-1]

    assert shard is new.shards[1]
    assert len(shard.numbers) == 2
    new.put("a")
    new.flush()
    assert new.number("a") == 1


def test_a_shard_that_breaks_when_it_is_loaded_is_failed_and_lets_go_of_what_it_began(new: ToyRuntime) -> None:
    new.runtime.load(0, 1)
    new.shards[0].breaks_when.add("loaded")
    new.shards[0].timer.schedule("session", 10, lambda: CoordinatorResult(None))
    new.turn()

    assert new.state() is ShardState.FAILED
    assert new.shards[0].life == ["loaded", "unloaded"]
    assert len(new.timers) == 0


def test_a_failed_shard_can_be_unloaded(new: ToyRuntime) -> None:
    damaged(new).load()
    new.runtime.unload(0, 2)

    assert new.state() is None


def test_close_is_idempotent_and_answers_everything_parked(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.runtime.close()
    toy.runtime.close()

    assert (outcome.error, outcome.answers) == (ErrorCode.NOT_COORDINATOR, 1)
    assert toy.shards[0].life == ["loaded", "unloaded"]


def test_a_closed_runtime_loads_nothing_any_more(toy: ToyRuntime) -> None:
    toy.runtime.close()
    toy.runtime.load(0, 9)
    toy.turn()

    assert (len(toy.shards), toy.state()) == (1, None)
    assert toy.put("a").error == ErrorCode.NOT_COORDINATOR


def test_states_tell_where_each_shard_is(toy: ToyRuntime) -> None:
    toy.runtime.load(1, 1)

    assert toy.runtime.progress == [(ShardId(TOPIC, 0), ShardState.ACTIVE, 0), (ShardId(TOPIC, 1), ShardState.LOADING, 0)]
