"""The import contracts of pyproject.toml name every package, since import-linter passes over one that they leave out;
and no imports form a circle.
"""

from __future__ import annotations

import re
import tomllib
from graphlib import TopologicalSorter
from typing import Any

import grimp

from coordinator_server.config import Config
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.runtime.clock import SystemClock
from coordinator_server.runtime.services import following
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.environment import Environment
from coordinator_server.server.hosting.builders import BUILDERS, Materials
from tests.support.server import ROOT

PACKAGES = {
    path.stem for path in (ROOT / "coordinator_server").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# The modules of configuration and of kinds, which lie in no layer.
TABLES = {
    "config",
    "histogram_bounds",
    "kinds",
    "topic_names",
}


def named(contract: str, field: str) -> set[str]:
    """The packages that a contract names in a list; the name of the contract begins like this."""
    [found] = [each[field] for each in CONTRACTS if each["name"].startswith(contract)]
    return set(re.findall(r"coordinator_server\.(\w+)", " ".join(found)))


def test_every_package_has_its_layer() -> None:
    """But for the log, whose place another contract tells, the thread and the HTTP request that
    everybody may use, and the tables that everybody may read.
    """
    assert PACKAGES - named("the layers of the server", "layers") == {
        "__init__",
        *TABLES,
        "http_request",
        "log",
        "worker",
    }


def test_every_package_but_those_that_start_jobs_is_free_of_spark() -> None:
    assert PACKAGES - named("only the pipeline knows Spark", "source_modules") == {
        "__init__",
        "__main__",
        "apps",
        "cli",
        "pipeline",
    }


def test_the_client_knows_no_package_but_itself() -> None:
    assert PACKAGES - named("the client is a library", "forbidden_modules") == {"__init__", "client", "http_request"}


def test_tables_read_no_package() -> None:
    assert PACKAGES - named("configuration and kinds", "forbidden_modules") == {
        "__init__",
        "__main__",
        "apps",
        *TABLES,
    }


def test_every_state_machine_is_held_to_be_plain_code() -> None:
    """The package of each shard that is built, and what lies below it."""
    environment, timers = Environment(), ShardTimers(TimerQueue(), SystemClock(), lambda _timer: None)
    packages = set()
    for builder in filter(None, BUILDERS.values()):
        build = builder.shard(Materials(Config(), environment.clock, environment.new_uuid))
        shard: Any = build(partition=0, registry=SnapshotRegistry(), services=following(timers))
        packages.add(type(shard).__module__.split(".")[1])

    assert packages | {"machine", "offsets", "share"} <= named("state machines are plain", "source_modules")


def test_no_imports_form_a_circle() -> None:
    """Imports within functions count, and those for the type checker: CycleError names the modules."""
    graph = grimp.build_graph("coordinator_server", "protocol", cache_dir=None)

    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()
