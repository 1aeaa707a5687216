"""The supervisor over processes that the test plays: what it starts and when, and what it makes of their ends."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.config import Config
from coordinator_server.config.logs import Logs
from coordinator_server.log.errors import LogError
from coordinator_server.log.file_names import LOCK, journal_dir
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.supervisor import supervisor as module
from coordinator_server.server.supervisor.loop_process import Stage
from coordinator_server.server.supervisor.supervisor import Supervisor
from tests.support.configs import config_with
from tests.support.control import ask_control
from tests.support.played_processes import KILLED, Process

CONFIG = config_with(node_id=5, listeners="PLAINTEXT://127.0.0.1:0", log_cleaner_enable=False, loops_hung_after_ms=60_000)


class Site:
    """A supervisor of two loops, and the processes that it has started."""

    def __init__(self, data_dir: Path, config: Config = CONFIG) -> None:
        self.data_dir = data_dir
        self.processes: list[Process] = []
        self.has_restarted = asyncio.Event()
        self.config = config_with(config)
        self.supervisor = Supervisor(self.config, data_dir, 2, Logs("info", "json"))

    def processes_of(self) -> type[Process]:
        """The class of its processes."""
        site = self

        class Started(Process):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                site.processes.append(self)
                if len(site.processes) > 2:
                    site.has_restarted.set()

        return Started

    def journal(self, loop: int) -> list[Path]:
        """The files of a loop's journal."""
        return list(Path(journal_dir(str(self.data_dir), loop)).iterdir())

    async def start(self) -> None:
        await self.supervisor.start()

    async def serve(self) -> None:
        for stage in (Stage.PREPARED, Stage.LOADING, Stage.SERVING):
            for process in self.processes:
                process.become(stage)
            await turns()


async def turns() -> None:
    """What is due is done, and what follows from it."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    found = Site(tmp_path / "data")
    monkeypatch.setattr(module, "LoopProcess", found.processes_of())
    yield found
    for process in found.processes:
        process.exit_code = 0
    await found.supervisor.stop()


async def test_each_loop_has_its_order(site: Site) -> None:
    """Its own sockets, and the directory's lock; the first one is not told of others, which are not there yet."""
    await site.start()

    ports = site.supervisor.ports
    assert len(set(ports[0])) == 2
    for loop, process in enumerate(site.processes):
        order = process.order
        assert (order.loop, order.incarnation, order.serving) == (loop, 1, ())
        assert [each.listeners for each in order.view.nodes] == [(Endpoint("", port),) for port in ports[0]]
        assert (order.data_dir, order.supervisor) == (str(site.data_dir), os.getpid())
        assert (order.log_level, order.log_format) == ("info", "json")
        lock, *sockets = process.inherited
        assert order.sockets == (tuple(sockets),)
        assert os.path.samestat(os.fstat(lock), (site.data_dir / LOCK).stat())
        with socket.socket(fileno=os.dup(sockets[0])) as bound:
            assert bound.getsockname()[1] == ports[0][loop]


async def test_every_loop_finds_a_journal(site: Site) -> None:
    """The supervisor recovers all of them before a loop starts: there may have been another number of loops."""
    await site.start()

    assert all(site.journal(loop) for loop in range(2))


async def test_the_directory_is_one_servers(site: Site) -> None:
    """Until it has stopped."""
    await site.start()
    other = Site(site.data_dir)
    with pytest.raises(LogError):
        await other.start()
    assert await other.supervisor.stop() == 0
    assert len(site.processes) == 2

    await site.supervisor.stop()

    await other.start()
    assert await other.supervisor.stop() == 0


async def test_no_loop_listens_before_all_are_prepared(site: Site) -> None:
    """Clients are sent from one to the other."""
    await site.start()
    first, second = site.processes

    first.become(Stage.PREPARED)
    await turns()
    assert first.told == []
    second.become(Stage.PREPARED)
    await turns()
    assert [process.told.count("listen") for process in site.processes] == [1, 1]


async def test_the_server_is_ready_when_all_shards_of_all_loops_are_loaded(site: Site) -> None:
    """It stays so when a loop is started again."""
    await site.start()
    first, second = site.processes
    for stage in (Stage.PREPARED, Stage.LOADING):
        for process in site.processes:
            process.become(stage)
        await turns()
    first.become(Stage.SERVING)
    assert not site.supervisor.ready.is_set()

    second.become(Stage.SERVING)

    assert site.supervisor.ready.is_set()
    first.end(KILLED)
    assert site.supervisor.ready.is_set()


@pytest.mark.parametrize(("loop", "serving"), [(0, (1,)), (1, ())])
async def test_a_loop_that_dies_is_started_again(site: Site, loop: int, serving: tuple[int, ...]) -> None:
    """On the same sockets. It listens when it is prepared, because the others do; the controller learns who they are."""
    await site.start()
    await site.serve()
    dead = site.processes[loop]

    dead.end(KILLED)
    await turns()

    again = site.processes[2]
    assert (again.loop, again.order.incarnation, again.order.serving) == (loop, 2, serving)
    assert again.inherited == dead.inherited
    assert again.told == []
    again.become(Stage.PREPARED)
    assert again.told == ["listen"]
    assert not site.supervisor.failed.is_set()


async def test_the_controller_hears_of_loops_that_have_ended(site: Site) -> None:
    """It waits for none of them. One that is recovered may follow it already."""
    await site.start()
    await site.serve()
    site.processes[1].end(KILLED)
    await turns()
    site.processes[2].become(Stage.RECOVERED)
    site.processes[0].end(KILLED)
    await turns()
    controller = site.processes[3]
    assert controller.order.serving == (1,)
    site.processes[2].end(KILLED)

    assert (site.processes[0].ends, controller.ends) == ([(1, 1), (0, 1)], [(1, 2)])


async def test_a_loop_that_says_why_it_ends_ends_the_server(site: Site) -> None:
    """Another start would not help."""
    await site.start()
    await site.serve()

    site.processes[1].end(1)
    await turns()

    assert site.supervisor.failed.is_set()
    assert len(site.processes) == 2
    assert await site.supervisor.stop() == 1
    assert site.processes[0].told[-1] == "terminate"


async def test_a_loop_that_dies_again_says_how_to_move_its_shards(site: Site) -> None:
    """The first restart is quicker than any move: its line does not."""
    await site.start()
    await site.serve()

    with capture_logs() as lines:
        site.processes[1].end(KILLED)
        await asyncio.wait_for(site.has_restarted.wait(), 10)
        site.processes[-1].end(KILLED)
        await turns()

    first, second = [line["action"] for line in lines if line["event"] == "loop-died"]
    assert first == "it is started again in 0.0 s"
    assert second.startswith("it is started again in 0.5 s. ")
    assert second.endswith(f"coordinator-server shards move --from 1 --to 0 --data-dir {site.data_dir}")


@pytest.mark.parametrize(("codes", "result"), [((0, 0), 0), ((0, -15), 0), ((0, 1), 1), ((-9, 0), 1)])
async def test_all_loops_end_with_the_server(site: Site, codes: tuple[int, int], result: int) -> None:
    """One that could not end in order makes the server's own exit code; its ports are free, and none is started again."""
    await site.start()
    await site.serve()
    for process, code in zip(site.processes, codes, strict=True):
        process.exit_code = code

    with capture_logs() as lines:
        assert await site.supervisor.stop() == result

    died = [(line["exit_code"], line["action"]) for line in lines if line["event"] == "loop-died"]
    assert died == [(code, "none: the server stops") for code in codes if code not in (0, -15)]
    assert [process.told[-1] for process in site.processes] == ["terminate"] * 2
    assert len(site.processes) == 2
    for process in site.processes:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(process.order.sockets[0][0])
    assert not (site.data_dir / "control.sock").exists()


@pytest.mark.parametrize("can_be_killed", [True, False])
async def test_a_loop_that_does_not_end_is_killed(site: Site, can_be_killed: bool) -> None:
    """The others have ended by then, and are left alone. One that waits for a disk cannot be killed: the server ends without it."""
    site.config.live.stop_timeout_ms = 10
    await site.start()
    await site.serve()
    site.processes[1].exit_code = None
    site.processes[1].can_be_killed = can_be_killed

    with capture_logs() as lines:
        assert await site.supervisor.stop() == 1

    assert [process.told[-1] for process in site.processes] == ["terminate", "kill"]
    assert [line["loops"] for line in lines if line["event"] == "loops-killed"] == [[1]]


async def test_a_loop_that_waits_for_its_next_start_is_not_started_while_the_server_stops(site: Site) -> None:
    await site.start()
    await site.serve()
    site.processes[1].end(KILLED)

    assert await site.supervisor.stop() == 0
    assert len(site.processes) == 2


@pytest.mark.parametrize("stage", [Stage.RECOVERED, Stage.SERVING])
async def test_a_loop_that_hangs_is_killed_and_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    """It answers no ping in its time; the other one does. A change may wait for it from when it has recovered."""
    site = Site(
        tmp_path / "data", config_with(listeners="PLAINTEXT://127.0.0.1:0", log_cleaner_enable=False, loops_hung_after_ms=40)
    )
    monkeypatch.setattr(module, "LoopProcess", site.processes_of())
    await site.start()
    await site.serve()
    site.processes[1].answers_pings = False
    site.processes[1].stage = stage

    async with asyncio.timeout(10):
        await site.has_restarted.wait()

    first, second, again = site.processes
    assert second.told[-1] == "kill"
    assert again.loop == 1
    assert "kill" not in first.told
    assert await site.supervisor.stop() == 0
    assert site.supervisor._next_look is not None
    assert site.supervisor._next_look.cancelled()


async def test_a_server_that_is_stopped_while_it_opens_looks_after_nothing(site: Site) -> None:
    """Its loops were prepared a moment ago."""
    await site.start()
    for process in site.processes:
        process.exit_code = None
        process.become(Stage.PREPARED)
    site.config.live.stop_timeout_ms = 10

    await site.supervisor.stop()

    assert "ping" not in site.processes[0].told + site.processes[1].told
    assert not (site.data_dir / "control.sock").exists()


async def test_an_operation_is_run_by_all_loops(site: Site) -> None:
    """Their answers are one; a refusal of one is refused as a whole."""
    await site.start()
    await site.serve()

    answer = await asyncio.to_thread(ask_control, site.data_dir, op="seal")
    assert answer == {"ok": True, "shards": {"s-0": 1, "s-1": 1}}
    assert [process.asked for process in site.processes] == [[{"op": "seal"}]] * 2
    site.processes[1].answer = {"ok": False, "error": "the disk"}
    refused = await asyncio.to_thread(ask_control, site.data_dir, op="seal")
    assert (refused["ok"], refused["error"]) == (False, "the disk")


async def test_the_loops_are_described(site: Site) -> None:
    """With how often each was started."""
    await site.start()
    await site.serve()
    site.processes[0].end(KILLED)
    await turns()

    answer = await asyncio.to_thread(ask_control, site.data_dir, op="loops")

    [(first, second)] = site.supervisor.ports
    listeners = [[{"name": "PLAINTEXT", "protocol": "PLAINTEXT", "host": "127.0.0.1", "port": port}] for port in (first, second)]
    assert [each.pop("listeners") for each in answer["loops"]] == listeners
    assert answer["loops"] == [
        {"loop": 0, "pid": 1000, "node_id": 5, "port": first, "ports": {"PLAINTEXT": first}, "stage": "starting", "starts": 2},
        {"loop": 1, "pid": 1001, "node_id": 6, "port": second, "ports": {"PLAINTEXT": second}, "stage": "serving", "starts": 1},
    ]


async def test_a_process_that_cannot_be_started_ends_the_server(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be no memory for it."""
    await site.start()
    await site.serve()
    dead = site.processes[1]

    def refuse(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(Process, "spawn", refuse)
    with capture_logs() as lines:
        dead.end(KILLED)
        await turns()

    assert site.supervisor.failed.is_set()
    assert "supervisor-failed" in [line["event"] for line in lines]
