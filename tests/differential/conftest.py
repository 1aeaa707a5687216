"""One broker and one server of ours for all scripts, over two lives: the second has other limits, and is what restart.txt restarts into."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.differential.lockstep import Lockstep
from tests.differential.scripts import RESTART, Script, Servers, play, scripts_of
from tests.differential.servers import LIMITS, OTHER_LIMITS, Pair

# Scripts that wait take no processor, but those that all begin at once would be late for their own timeouts.
_AT_ONCE = 6


class Played:
    """Scripts that are played in the background, from the first that is asked for on."""

    def __init__(self, titles: set[str], name: str, servers: Servers) -> None:
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=name)
        wanted = [script for script in scripts_of(name) if script.title in titles]
        self._outcomes: dict[str, Future[None]] = {
            script.title: self._pool.submit(play, script, servers, is_timed=True) for script in wanted
        }

    def result(self, script: Script) -> None:
        """Raises what playing it raised."""
        self._outcomes[script.title].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Halves:
    """Scripts whose first part has been played before both servers were started again."""

    def __init__(self, titles: set[str], servers: Servers) -> None:
        self._begun: dict[str, Lockstep] = {}
        for script in scripts_of(RESTART):
            if script.title in titles:
                lockstep = self._begun[script.title] = Lockstep(*servers, script.prefix)
                lockstep.play(script.lines[: script.lines.index(RESTART)])

    def move_to(self, servers: Servers) -> None:
        for lockstep in self._begun.values():
            lockstep.move_to(*servers)

    def finish(self, script: Script) -> Lockstep:
        return self._begun.pop(script.title)


def _titles(request: pytest.FixtureRequest) -> set[str]:
    """Of the scripts whose tests are to run."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    return {call.params["script"].title for call in calls if call is not None and isinstance(call.params.get("script"), Script)}


@pytest.fixture(scope="session")
def _pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with Pair(tmp_path_factory.mktemp("differential")) as pair:
        yield pair


@pytest.fixture(scope="session")
def servers(_pair: Pair) -> Servers:
    """Both, in their first life."""
    return _pair.start(LIMITS)


@pytest.fixture(scope="session")
def timed(servers: Servers, request: pytest.FixtureRequest) -> Iterator[Played]:
    played = Played(_titles(request), "timing", servers)
    yield played
    played.close()


@pytest.fixture(scope="session")
def _second_life(_pair: Pair, servers: Servers, request: pytest.FixtureRequest) -> tuple[Servers, Halves]:
    """Nothing else uses the first life from here on: see ``pytest_collection_modifyitems``."""
    halves = Halves(_titles(request), servers)
    again = _pair.start(OTHER_LIMITS)
    halves.move_to(again)
    return again, halves


@pytest.fixture(scope="session")
def halves(_second_life: tuple[Servers, Halves]) -> Halves:
    return _second_life[1]


@pytest.fixture(scope="session")
def limited(_second_life: tuple[Servers, Halves], request: pytest.FixtureRequest) -> Iterator[Played]:
    played = Played(_titles(request), "limits", _second_life[0])
    yield played
    played.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Scripts that take time begin first and are asked last; the second life comes after the first."""
    order = {
        "test_script": 1,
        "test_sequence": 1,
        "test_transcript": 1,
        "test_timed_script": 2,
        "test_restart": 3,
        "test_limited_script": 4,
    }
    here = [place for place, item in enumerate(items) if "tests/differential" in item.nodeid]
    ordered = sorted((items[place] for place in here), key=lambda item: order.get(getattr(item, "originalname", ""), 0))
    for place, item in zip(here, ordered, strict=True):
        items[place] = item
