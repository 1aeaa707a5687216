"""The pytest plugin, in projects of a few tests: pytest runs in a process of its own, as few times as possible."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.eventually import eventually
from tests.support.processes import is_alive
from tests.support.server import ROOT

PLUGIN = "coordinator_server.testing.plugin"
HEAD = """\
import asyncio, os, pathlib, signal, socket
import pytest
from coordinator_server.testing import Coordinator
"""


class Project:
    """A directory with tests."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def add(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)

    def write(self, tests: str, configuration: str = "") -> None:
        (self.directory / "pytest.ini").write_text(f"[pytest]\n{dedent(configuration)}")
        (self.directory / "test_project.py").write_text(HEAD + dedent(tests))

    def run(self, *words: str, plugins: tuple[str, ...] = ()) -> str:
        """Run pytest. The output, and behind it the exit code."""
        named = [word for plugin in (PLUGIN, *plugins) for word in ("-p", plugin)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        # The entry point of this tree may not be installed in the environment; a release is tested with it.
        environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *named, *words]
        done = subprocess.run(
            command, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        return f"{done.stdout}{done.stderr}\nexit {done.returncode}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_entry_point_is_the_plugin() -> None:
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]

    assert entry_points == {"pytest11": {"coordinator-server": PLUGIN}}


def test_fixtures_are_servers_for_a_test_or_a_session(project: Project) -> None:
    """Each is gone after its test, or with the session. Markers and the configuration say how they are; markers win.

    Among the tests is the example at the head of docs/testing.md.
    """
    project.add("test_example.py", (ROOT / "docs/testing.md").read_text().split("```python\n", 1)[1].split("```", 1)[0])
    project.write(
        """
        seen = []

        def test_one(coordinator, session_coordinator):
            coordinator.create_topic("mine")
            seen.append((coordinator.port, session_coordinator.port))

        def test_two(coordinator, session_coordinator):
            coordinator.create_topic("mine")
            assert seen[0][1] == session_coordinator.port
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", seen[0][0])).close()
            socket.create_connection(("127.0.0.1", coordinator.port)).close()

        @pytest.mark.coordinator(topics={"payments": 2}, properties={"group.max.size": 8}, durable=True)
        def test_marked(coordinator, make_coordinator):
            for topic in ("orders", "payments"):
                with pytest.raises(Exception, match="exists"):
                    coordinator.create_topic(topic)
            coordinator.kill()
            coordinator.restart()
            other = make_coordinator(topics={"x": 1})
            assert other.port != coordinator.port
            assert coordinator._properties["group.max.size"] == "8"
            assert other._properties["group.max.size"] == "7"
            assert other._properties["log.provenance"] == "false"
        """,
        """\
        addopts = --strict-markers
        coordinator_properties =
            group.max.size=7
            log.provenance = false
        coordinator_topics = orders:6
        """,
    )

    # A project may have a module with the name of ours, and turn all warnings into errors.
    project.add("protocol.py", "raise AssertionError")
    output = project.run("-W", "error")
    assert "4 passed" in output, output


def test_wrong_markers_and_server_logs_are_reported(project: Project) -> None:
    """A marker that makes no sense, and what the server logged when a test fails."""
    project.write(
        """
        @pytest.mark.coordinator(topic={"x": 1})
        def test_name(coordinator): pass

        @pytest.mark.coordinator({"x": 1})
        def test_position(coordinator): pass

        @pytest.mark.coordinator(properties={"group.max.sise": 1})
        def test_property(coordinator): pass

        def test_made(make_coordinator): make_coordinator(durability=1)

        def test_failure(coordinator): assert not coordinator.port
        """
    )

    output = project.run()
    signature = "coordinator(properties={}, topics={}, durable=False)"
    assert f"@pytest.mark.coordinator has no argument 'topic': {signature}" in output
    assert f"@pytest.mark.coordinator takes named arguments: {signature}" in output
    assert "unknown property group.max.sise; did you mean group.max.size?" in output
    assert f"make_coordinator has no argument 'durability': {signature}" in output
    assert "coordinator: end of the server's log" in output
    assert "loaded" in output


def test_workers_of_xdist_do_not_share_servers(project: Project) -> None:
    """And tests may be coroutines of any plugin: the fixtures are plain."""
    project.write(
        """
        @pytest.mark.parametrize("number", range(4))
        async def test_it(number, session_coordinator, coordinator, worker_id, tmp_path_factory):
            _, writer = await asyncio.open_connection(coordinator.host, coordinator.port)
            coordinator.advance(3600)
            assert coordinator.groups() == []
            writer.close()
            place = tmp_path_factory.getbasetemp().parent / f"port-{session_coordinator.port}-{worker_id}"
            place.touch()
            of_port = list(place.parent.glob(f"port-{session_coordinator.port}-*"))
            of_worker = list(place.parent.glob(f"port-*-{worker_id}"))
            assert of_port == of_worker == [place]
        """,
        "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n",
    )

    output = project.run("-n", "2", plugins=("xdist.plugin", "pytest_asyncio.plugin"))
    assert "4 passed" in output, output


def test_nothing_is_left_of_a_run_that_is_killed(project: Project) -> None:
    """The servers end with the process of the tests, however that ends."""
    project.write(
        """
        def test_it(coordinator, session_coordinator):
            pids = f"{coordinator.pid} {session_coordinator.pid} {coordinator._template._process.pid}"
            pathlib.Path("pids").write_text(pids)
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    assert "exit -9" in project.run()

    pids = (project.directory / "pids").read_text().split()
    assert len(pids) == 3
    eventually(lambda: not any(is_alive(int(pid)) for pid in pids))


def test_without_pytest_one_line_says_what_is_missing(tmp_path: Path) -> None:
    """And the server itself needs none."""
    (tmp_path / "pytest.py").write_text("raise ImportError('no pytest')\n")
    code = f"""
from coordinator_server.testing import Coordinator
with Coordinator() as c: print(c.groups())
import {PLUGIN}
"""
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "[]\n", done.stderr
    assert done.stderr.splitlines()[-1] == (
        "ImportError: coordinator_server.testing.plugin needs pytest: pip install 'coordinator-server[testing]'. "
        "Without pytest, use coordinator_server.testing.Coordinator"
    )
    assert "During handling" not in done.stderr
