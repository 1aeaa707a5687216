"""When keys are fetched, and what is said of tokens meanwhile."""

from __future__ import annotations

from itertools import pairwise

import pytest

from coordinator_server.security.oauth.key_set import KeySet, read_key_set
from coordinator_server.security.oauth.key_source import LONGEST_KEY_ID, MISSING_MAX, KeysNotKnown, KeySource, Pace
from coordinator_server.security.oauth.tokens import BadToken
from tests.support.tokens import key_set

REFRESH_MS, BACKOFF_MS, MAX_MS = 3_600_000, 100, 1_000
PACE = Pace(REFRESH_MS, BACKOFF_MS, MAX_MS, is_on_demand=True)
ONE = read_key_set(key_set("ES256"))
TWO = read_key_set(key_set("ES256", "ES384"))
FIRST_MS = 5_000


def source(pace: Pace = PACE, keys: KeySet | None = ONE) -> KeySource:
    """One whose first fetch has ended at FIRST_MS."""
    made = KeySource(pace)
    made.begin()
    made.end(keys, FIRST_MS, is_new=keys is not None)
    return made


def fetched(of: KeySource, keys: KeySet | None, *, is_new: bool = False) -> int:
    """Fetch when it is due, and return when that was."""
    due_ms = of.due_ms()
    assert due_ms is not None
    of.begin()
    of.end(keys, due_ms, is_new=is_new)
    return due_ms


def verdict(of: KeySource, key_id: str | None, algorithm: str = "ES384") -> str:
    try:
        return of.find(algorithm, key_id).id
    except (BadToken, KeysNotKnown) as error:
        return type(error).__name__


def test_the_first_fetch_is_at_once_and_the_next_ones_are_rare() -> None:
    begun = KeySource(PACE)
    assert (begun.due_ms(), verdict(begun, "ES256", "ES256")) == (0, "KeysNotKnown")
    begun.begin()
    assert begun.due_ms() is None
    begun.end(ONE, FIRST_MS, is_new=True)

    assert (begun.due_ms(), verdict(begun, "ES256", "ES256")) == (FIRST_MS + REFRESH_MS, "ES256")


def test_a_failure_keeps_the_keys_and_comes_again_sooner() -> None:
    failing = source()
    times = [fetched(failing, None) for _ in range(7)]

    assert verdict(failing, "ES256", "ES256") == "ES256"
    assert [later - earlier for earlier, later in pairwise(times)] == [100, 200, 400, 800, 1000, 1000]
    assert fetched(failing, ONE) == times[-1] + 1000
    assert failing.due_ms() == times[-1] + 1000 + REFRESH_MS


def test_a_new_key_refuses_nobody() -> None:
    """Who shows it first comes again, and is known after the fetch."""
    rotating = source()

    assert verdict(rotating, "ES384") == "KeysNotKnown"
    assert fetched(rotating, TWO, is_new=True) == FIRST_MS + BACKOFF_MS
    assert verdict(rotating, "ES384") == "ES384"


def test_a_key_that_a_fetch_does_not_bring_is_refused() -> None:
    """Until it is there: each token with it asks for a fetch, and the fetches become rare."""
    asked = source()
    verdict(asked, "ES384")
    times = [fetched(asked, ONE)]
    for _ in range(5):
        assert verdict(asked, "ES384") == "BadToken"
        times.append(fetched(asked, ONE))

    assert [later - earlier for earlier, later in pairwise(times)] == [200, 400, 800, 1000, 1000]
    assert verdict(asked, "ES384") == "BadToken"
    fetched(asked, TWO, is_new=True)
    assert verdict(asked, "ES384") == "ES384"


def test_a_fetch_that_ran_already_says_nothing_of_a_key() -> None:
    """The issuer may have answered before the key was there."""
    asked = source()
    asked.begin()
    assert verdict(asked, "ES384") == "KeysNotKnown"
    asked.end(ONE, FIRST_MS, is_new=False)
    assert verdict(asked, "ES384") == "KeysNotKnown"
    fetched(asked, ONE)

    assert verdict(asked, "ES384") == "BadToken"


def test_nobody_is_refused_while_the_issuer_is_away() -> None:
    asked = source()
    for _ in range(3):
        assert verdict(asked, "ES384") == "KeysNotKnown"
        fetched(asked, None)


def test_a_removed_key_vouches_for_nobody_after_the_next_fetch() -> None:
    shrinking = source(keys=TWO)
    fetched(shrinking, ONE, is_new=True)

    verdict(shrinking, "ES384")
    fetched(shrinking, ONE)
    assert verdict(shrinking, "ES384") == "BadToken"


@pytest.mark.parametrize("key_id", [None, "x" * (LONGEST_KEY_ID + 1)])
def test_no_fetch_is_for_a_token_without_a_sensible_id(key_id: str | None) -> None:
    asked = source()

    assert verdict(asked, key_id) == "BadToken"
    assert asked.due_ms() == FIRST_MS + REFRESH_MS


def test_strangers_ids_take_little_memory_and_few_fetches() -> None:
    asked = source()
    count = 0
    for number in range(10 * MISSING_MAX):
        assert verdict(asked, f"key-{number}") == "KeysNotKnown"
        if number % MISSING_MAX == 0:
            count = number
            fetched(asked, ONE)

    assert count
    assert len(asked._missing) == MISSING_MAX
    last_ms = asked.due_ms()
    assert last_ms is not None
    fetched(asked, ONE)
    verdict(asked, "another")
    assert asked.due_ms() == last_ms + MAX_MS


def test_a_quiet_time_shortens_the_backoff_again() -> None:
    asked = source()
    for _ in range(6):
        verdict(asked, "ES384")
        fetched(asked, ONE)
    rare_ms = fetched(asked, ONE)
    verdict(asked, "another")

    assert asked.due_ms() == rare_ms + BACKOFF_MS


def test_an_unknown_key_of_a_file_is_refused_at_once() -> None:
    """The file is looked at each second."""
    of_file = source(Pace(1000, BACKOFF_MS, MAX_MS, is_on_demand=False))

    assert verdict(of_file, "ES384") == "BadToken"
    assert of_file.due_ms() == FIRST_MS + 1000


def test_a_fetch_may_be_wanted() -> None:
    """At SIGHUP."""
    asked = source()
    asked.want()

    assert asked.due_ms() == FIRST_MS + BACKOFF_MS
