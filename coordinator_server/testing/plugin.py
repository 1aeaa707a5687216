"""The pytest plugin, found by its entry point: fixtures that are servers, each gone after its test or session.

    coordinator            a server for the test
    session_coordinator    one for all tests of the session; with pytest-xdist one for each worker
    make_coordinator       a function that starts more, with arguments of their own

A test says what it needs of ``coordinator`` with a marker; ``coordinator_properties`` and ``coordinator_topics`` in pytest's
configuration hold for all. Everything but this module works without pytest. pytest loads it at every start, so it imports the rest
when a fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

try:
    import pytest
except ImportError:
    raise ImportError(
        "coordinator_server.testing.plugin needs pytest: pip install 'coordinator-server[testing]'. "
        "Without pytest, use coordinator_server.testing.Coordinator"
    ) from None

if TYPE_CHECKING:
    from coordinator_server.testing.coordinator import Coordinator

    MakeCoordinator = Callable[..., Coordinator]

MARKER: Final = "coordinator"
LOG_LINES: Final = 50
_ARGUMENTS: Final = ("properties", "topics", "durable")
_EXAMPLES: Final = {"properties": '{"group.max.size": 100}', "topics": '{"orders": 6}'}
_SIGNATURE: Final = "coordinator(properties={}, topics={}, durable=False)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings of all fixtures."""
    parser.addini("coordinator_properties", "properties of every coordinator, a NAME=VALUE per line", type="linelist")
    parser.addini("coordinator_topics", "topics of every coordinator, a NAME:PARTITIONS per line", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", f"{_SIGNATURE}: properties, topics and log of the coordinator fixture (coordinator-server)"
    )


@pytest.fixture
def coordinator(request: pytest.FixtureRequest) -> Iterator[Coordinator]:
    """Return a coordinator-server for this test; the marker ``coordinator`` configures it."""
    with _start(request.config, **_marked(request.node)) as started:
        yield started


@pytest.fixture(scope="session")
def session_coordinator(request: pytest.FixtureRequest) -> Iterator[Coordinator]:
    """Return a coordinator-server that all tests of the session share."""
    with _start(request.config) as started:
        yield started


@pytest.fixture
def make_coordinator(request: pytest.FixtureRequest) -> Iterator[MakeCoordinator]:
    """Return a function that starts a coordinator-server with the arguments of the marker ``coordinator``, for this test."""
    with ExitStack() as running:

        def make(**arguments: Any) -> Coordinator:
            _check(arguments, "make_coordinator")
            return running.enter_context(_start(request.config, **arguments))

        yield make


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the server's log below a test that failed."""
    report = yield
    if report.failed:
        for name in ("coordinator", "session_coordinator"):
            # A test may have a fixture of its own under this name.
            server: Any = getattr(item, "funcargs", {}).get(name)
            if hasattr(server, "bootstrap_servers") and hasattr(server, "log"):
                report.sections.append((f"{name}: end of the server's log", "\n".join(server.log().splitlines()[-LOG_LINES:])))
    return report


def _start(
    config: pytest.Config,
    properties: dict[str, object] | None = None,
    topics: dict[str, int] | None = None,
    durable: bool = False,
) -> Coordinator:
    from coordinator_server.testing.coordinator import Coordinator
    from coordinator_server.testing.errors import FixtureError

    try:
        return Coordinator(
            {**_ini_properties(config), **(properties or {})}, {**_ini_topics(config), **(topics or {})}, durable=durable
        )
    except FixtureError as wrong:
        raise pytest.UsageError(str(wrong)) from None


def _marked(node: Any) -> dict[str, Any]:
    """Return the arguments of the closest marker."""
    marker = node.get_closest_marker(MARKER)
    if marker is None:
        return {}
    if marker.args:
        raise pytest.UsageError(f"@pytest.mark.{MARKER} takes named arguments: {_SIGNATURE}")
    _check(marker.kwargs, f"@pytest.mark.{MARKER}")
    return dict(marker.kwargs)


def _check(arguments: dict[str, Any], where: str) -> None:
    for name, value in arguments.items():
        if name not in _ARGUMENTS:
            raise pytest.UsageError(f"{where} has no argument {name!r}: {_SIGNATURE}")
        if name in _EXAMPLES and value is not None and not isinstance(value, Mapping):
            raise pytest.UsageError(f"{where}: {name} is a mapping, such as {_EXAMPLES[name]}, not {value!r}")


def _ini_properties(config: pytest.Config) -> dict[str, object]:
    return dict(_pairs(config.getini("coordinator_properties"), "=", "coordinator_properties takes NAME=VALUE"))


def _ini_topics(config: pytest.Config) -> dict[str, int]:
    wanted = "coordinator_topics takes NAME:PARTITIONS"
    topics = {}
    for name, count in _pairs(config.getini("coordinator_topics"), ":", wanted):
        if not count.isdecimal():
            raise pytest.UsageError(f"{wanted}, not {name}:{count}")
        topics[name] = int(count)
    return topics


def _pairs(lines: list[str], separator: str, wanted: str) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, found, value = line.partition(separator)
        if not found or not name.strip() or not value.strip():
            raise pytest.UsageError(f"{wanted}, not {line!r}")
        yield name.strip(), value.strip()
