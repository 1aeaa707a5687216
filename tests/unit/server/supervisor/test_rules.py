"""What the supervisor decides."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coordinator_server.server.supervisor.rules import DELAYS_S, WINDOW_S, Restarts, Watch, dealt, merged
from tests.support.views import loops_view

KILLED = -9


def test_a_loop_that_dies_is_started_again_at_once() -> None:
    """An accident is no reason to wait."""
    assert Restarts().after_death(KILLED, 100.0) == 0.0


def test_each_death_in_a_row_costs_more_until_it_is_final() -> None:
    """Bounded in time and in number."""
    restarts = Restarts()

    delays = [restarts.after_death(KILLED, float(second)) for second in range(len(DELAYS_S) + 1)]

    assert delays == [*DELAYS_S, None]


def test_old_deaths_are_forgotten() -> None:
    """One a day is an accident each time."""
    restarts = Restarts()

    assert {restarts.after_death(KILLED, day * 86400.0) for day in range(50)} == {0.0}
    assert restarts.after_death(KILLED, 49 * 86400.0 + WINDOW_S - 1) == DELAYS_S[1]


@pytest.mark.parametrize("code", [1, 2])
def test_a_loop_that_says_why_it_ends_is_believed(code: int) -> None:
    """A disk whose sync failed, a log that is damaged, a wrong property: none of them is mended by another start."""
    assert Restarts().after_death(code, 0.0) is None


@pytest.mark.parametrize("code", [0, -6, -9, -11, -15, 134, 3])
def test_unrequested_ends_of_loops_are_failures(code: int) -> None:
    """Signals, aborts, and an end in good order that nobody had asked for."""
    assert Restarts().after_death(code, 0.0) is not None


def test_answers_by_shard_are_united() -> None:
    """As if one loop had answered for all shards."""
    answers = [
        {"ok": True, "format": 1, "shards": {"a-0": {"offset": 1}}, "names": ["x"]},
        {"ok": True, "format": 1, "shards": {"a-1": {"offset": 2}}, "names": ["y"]},
    ]

    assert merged(answers) == {
        "ok": True,
        "format": 1,
        "shards": {"a-0": {"offset": 1}, "a-1": {"offset": 2}},
        "names": ["x", "y"],
    }


def test_a_refusal_of_one_loop_refuses_for_all() -> None:
    """Half a seal is none."""
    assert merged([{"ok": True, "shards": {}}, {"ok": False, "error": "the disk"}]) == {"ok": False, "error": "the disk"}


def test_totals_cannot_be_put_together() -> None:
    """Whether they are to be added nobody knows: it is refused, and not guessed."""
    with pytest.raises(ValueError, match="'records'"):
        merged([{"ok": True, "records": 3}, {"ok": True, "records": 4}])


def test_a_request_about_shards_goes_to_their_owners() -> None:
    """The catalog's is loop 0's; nobody is asked for what it has not."""
    request = {"op": "digest", "shards": ["__consumer_offsets-7", "__cluster_metadata-0", "__consumer_offsets-4", "nonsense"]}

    assert dealt(request, loops_view(3)) == {
        0: {"op": "digest", "shards": ["__cluster_metadata-0", "nonsense"]},
        1: {"op": "digest", "shards": ["__consumer_offsets-7", "__consumer_offsets-4"]},
    }


def test_other_control_requests_go_to_all_loops() -> None:
    """Each with what was asked."""
    assert dealt({"op": "seal"}, loops_view(2)) == {0: {"op": "seal"}, 1: {"op": "seal"}}


def looks(
    watch: Watch[int], start_s: float, seconds: int, answering: set[int], processes: Sequence[int] = (0, 1)
) -> list[tuple[float, int]]:
    """When which process was found to hang, of processes 0 and 1; a look is due every second."""
    found = []
    for second in range(seconds):
        now_s = start_s + second
        seen = watch.look(now_s, processes)
        found += [(now_s, process) for process in seen.hung]
        for process in answering:
            watch.answered(process)
    return found


def test_a_loop_that_does_not_answer_hangs_when_its_time_is_over() -> None:
    """The others do not."""
    watch: Watch[int] = Watch(5.0)
    assert looks(watch, 100.0, 10, {0, 1}) == []

    assert looks(watch, 110.0, 8, {0}) == [(115.0, 1)]


def test_a_loop_that_is_slow_does_not_hang() -> None:
    """One answer in its time is enough."""
    watch: Watch[int] = Watch(5.0)
    for start_s in (100.0, 104.0, 108.0):
        assert looks(watch, start_s, 4, set()) == []
        watch.answered(0)
        watch.answered(1)


def test_who_stood_still_together_with_the_supervisor_does_not_hang() -> None:
    """A look that is late gives everybody the whole time again."""
    watch: Watch[int] = Watch(5.0)
    assert looks(watch, 100.0, 4, set()) == []

    assert looks(watch, 4000.0, 5, set()) == []
    assert looks(watch, 4005.0, 1, set()) == [(4005.0, 0), (4005.0, 1)]


def test_what_a_dead_loop_owed_its_successor_does_not() -> None:
    """Also when the new process is there before the next look: it is asked, and has the whole time."""
    watch: Watch[int] = Watch(5.0)
    looks(watch, 100.0, 4, {0})

    assert watch.look(104.0, [0, 2]) == ([], [0, 2])
    assert looks(watch, 105.0, 6, {0}, [0, 2]) == [(109.0, 2)]
