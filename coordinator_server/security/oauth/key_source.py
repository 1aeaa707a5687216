"""The keys of a listener over time: which are known, and when they are fetched. Without I/O.

    no keys yet ──fetched──► known ──failed──► known: the old ones stay in use, and the next attempt comes sooner
         └──failed──► no keys yet

A set is fetched at the start, after each ``refresh_ms``, and after a failure. A token whose key is not known asks for a fetch,
too. It is refused when a fetch that began after the first such token has not brought its key. Until then it is unknown whether the
token is right, so the connection closes without an answer, and the client comes again: a new key refuses nobody. (Kafka's
``RefreshingHttpsJwks`` refuses at once, and Java's clients take that as final.)

Between the end of a fetch and the next one ``backoff_ms`` pass at least. It doubles up to ``backoff_max_ms`` with each fetch that
brings nothing new, so strangers cannot make this server fetch all the time.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator_server.security.oauth.key_set import Key, KeySet
from coordinator_server.security.oauth.tokens import BadToken

LONGEST_KEY_ID: Final = 1000
MISSING_MAX: Final = 64


class KeysNotKnown(Exception):
    """It is not known yet whether a key vouches for the token: a fetch is needed, or runs. The message says which."""


class Pace(NamedTuple):
    """When keys are fetched. ``is_on_demand``: an unknown key asks for a fetch."""

    refresh_ms: int
    backoff_ms: int
    backoff_max_ms: int
    is_on_demand: bool


class KeySource:
    """The keys of one place. The owner fetches them when ``due_ms`` says so, and tells what came of it."""

    def __init__(self, pace: Pace) -> None:
        self.keys: KeySet | None = None
        self.is_fetching = False
        self._pace = pace
        # The number of fetches that have begun, and the number of the last one that succeeded.
        self._begun = 0
        self._succeeded = 0
        self._has_failed = False
        self._is_wanted = True
        self._ended_ms: int | None = None
        self._wait_ms = pace.backoff_ms
        # By the id of a key that is not known: the number of the fetch that has to bring it.
        self._missing: dict[str, int] = {}

    def find(self, algorithm: str, key_id: str | None) -> Key:
        """Return the key for a token. Raises BadToken and KeysNotKnown; then ``due_ms`` may have changed."""
        if self.keys is None:
            self._is_wanted = True
            raise KeysNotKnown("the keys have not been fetched yet")
        key = self.keys.find(algorithm, key_id)
        if key is not None:
            return key
        shown = "none" if key_id is None else repr(key_id)[:80]
        if key_id is None or len(key_id) > LONGEST_KEY_ID or not self._pace.is_on_demand:
            raise BadToken(f"no key {shown} for {algorithm}")
        self._is_wanted = True
        if self._succeeded >= self._needed(key_id):
            raise BadToken(f"no key {shown} for {algorithm}, also after a fetch")
        raise KeysNotKnown(f"the key {shown} for {algorithm} is not known: the keys are fetched again")

    def want(self) -> None:
        """Fetch again as soon as the pace allows."""
        self._is_wanted = True

    def due_ms(self) -> int | None:
        """Return when the next fetch is due, on the clock of ``begin`` and ``end``; None: while one runs."""
        if self.is_fetching:
            return None
        if self._ended_ms is None:
            return 0
        is_soon = self._is_wanted or self._has_failed
        return self._ended_ms + (self._wait_ms if is_soon else self._pace.refresh_ms)

    def begin(self) -> None:
        """A fetch begins."""
        self.is_fetching, self._is_wanted = True, False
        self._begun += 1

    def end(self, keys: KeySet | None, now_ms: int, *, is_new: bool) -> None:
        """A fetch has ended: with these keys, or None if it failed. ``is_new``: they are not those that were known."""
        pace, ended_ms = self._pace, self._ended_ms
        self.is_fetching, self._has_failed, self._ended_ms = False, keys is None, now_ms
        is_rare = ended_ms is None or now_ms - ended_ms > 2 * pace.backoff_max_ms
        self._wait_ms = pace.backoff_ms if is_new or is_rare else min(2 * self._wait_ms, pace.backoff_max_ms)
        if keys is not None:
            self.keys, self._succeeded = keys, self._begun
            if is_new:
                self._missing.clear()

    def _needed(self, key_id: str) -> int:
        """Return the number of the fetch that has to bring a key. One that runs may have begun before the key existed."""
        needed = self._missing.setdefault(key_id, self._begun + 1)
        if len(self._missing) > MISSING_MAX:
            del self._missing[next(iter(self._missing))]
        return needed
