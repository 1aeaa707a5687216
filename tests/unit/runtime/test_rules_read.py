"""Read operations: at the last committed offset, at once."""

from __future__ import annotations

import pytest

from coordinator_server.log.errors import Unavailable
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.gather import Refused
from protocol.error_codes import ErrorCode
from tests.support.runtime import ToyRuntime, ToyShard


def test_a_read_does_not_see_what_could_still_be_reverted(toy: ToyRuntime) -> None:
    toy.put("a", 7)
    assert toy.number("a") is None
    toy.turn()
    assert toy.number("a") is None

    toy.store.finish()
    assert toy.number("a") == 7


def test_a_read_sees_the_committed_value_of_what_is_being_changed_or_deleted(toy: ToyRuntime) -> None:
    toy.put("changed", 1)
    toy.put("deleted", 2)
    toy.flush()
    toy.put("changed", 3)
    toy.put("deleted", None)
    toy.turn()
    toy.put("changed", 4)

    assert (toy.number("changed"), toy.number("deleted")) == (1, 2)
    toy.store.finish()
    assert (toy.number("changed"), toy.number("deleted")) == (3, None)
    toy.store.finish()
    assert toy.number("changed") == 4


def test_a_read_after_a_failed_append_sees_what_was_committed_before(toy: ToyRuntime) -> None:
    toy.put("a", 1)
    toy.flush()
    toy.put("a", 2)
    toy.flush(Unavailable("disk full"))

    assert toy.number("a") == 1


def test_a_read_after_a_load_sees_all_that_was_loaded(toy: ToyRuntime) -> None:
    toy.put("a", 1)
    toy.flush()
    after = ToyRuntime(store=toy.store)
    after.load()

    assert after.number("a") == 1


def test_a_read_that_refuses_raises_its_error(toy: ToyRuntime) -> None:
    with pytest.raises(CoordinatorError, match="GROUP_ID_NOT_FOUND"):
        toy.number("refused")


def test_a_read_of_a_shard_that_is_not_active_is_refused(toy: ToyRuntime) -> None:
    toy.runtime.load(1, 1)

    with pytest.raises(CoordinatorError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        toy.number("a", partition=1)
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        toy.number("a", partition=2)


def test_read_all_gathers_every_shard_and_one_that_fails_hides_no_other(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a", 5, partition=1)
    toy.flush()
    toy.runtime.load(2, 1)

    assert toy.runtime.read_all("toy", ToyShard.number, "a") == [None, 5, Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)]
    assert toy.runtime.read_all("toy", ToyShard.number, "broken")[0] == Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
    assert toy.runtime.read_all("toy", ToyShard.number, "refused")[0] == Refused(ErrorCode.GROUP_ID_NOT_FOUND)
