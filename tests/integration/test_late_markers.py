"""What a stopped loop finds in its sockets when it goes on ends no later transaction."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.eventually import eventually
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.transactional_server import PARTITIONS, PROPERTIES, await_coordinators, left_open, read

COORDINATOR, OF_GROUP = 0, 1
NONE, CONCURRENT = ErrorCode.NONE, ErrorCode.CONCURRENT_TRANSACTIONS


def name_at(loop: int) -> str:
    """A group, or a transactional id, of that loop of two."""
    return next(name for name in (f"name-{number}" for number in range(100)) if partition_for(name, PARTITIONS) % 2 == loop)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def move(producer: Producer, group: str, offset: int, version: int) -> None:
    """Begin a transaction with an offset of the group."""
    if version < 5:
        eventually(lambda: producer.add_offsets(group, version=3) == NONE)
    assert producer.commit(group, "t", {0: offset}, version=version) == {NONE}


@pytest.mark.parametrize("version", [3, 5])
def test_a_marker_left_for_a_stopped_loop_does_not_end_the_next_transaction(tmp_path: Path, version: int) -> None:
    """The group's loop is stopped after PREPARE until the coordinator, which has died meanwhile, has a new link to it. The client
    begins transaction 2 as soon as it can: it stays open. In version 3 both transactions have one epoch."""
    group, transactional_id = name_at(OF_GROUP), name_at(COORDINATOR)
    with Server(tmp_path, PROPERTIES | {"topics": "t:1"}, loops=2) as server:
        await_coordinators(server, [transactional_id])
        with Producer(server.address, transactional_id) as producer:
            assert producer.init().error == NONE
            # Now the coordinator has a link.
            move(producer, group, 1, version)
            assert producer.end(version=version).error == NONE
            producer.until("CompleteCommit")
            move(producer, group, 2, version)
            before = (producer.producer_id, producer.epoch)
            with stopped(server.loop_pids()[OF_GROUP]):
                assert producer.end(version=version).error == NONE
                # The marker is on its way.
                time.sleep(0.2)
                after = (producer.producer_id, producer.epoch)
                os.kill(server.loop_pids()[COORDINATOR], signal.SIGKILL)
                eventually(lambda: server.control(op="loops")["loops"][COORDINATOR]["starts"] == 2)
                eventually(lambda: server.control(op="loops")["loops"][COORDINATOR]["stage"] == "serving")
                with Producer(server.address, transactional_id) as early:
                    early.producer_id, early.epoch = after
                    assert early.described().transaction_state == "PrepareCommit"
                    assert early.add_offsets(group) == CONCURRENT
        with Producer(server.address, transactional_id) as producer:
            producer.producer_id, producer.epoch = after
            move(producer, group, 3, version)
            time.sleep(0.5)

            assert producer.described().transaction_state == "Ongoing"
            assert (after == before) == (version < 5)
            assert left_open(server)
            assert read(server, [group]) == {(group, 0): 2}
            assert producer.end(version=version).error == NONE
            eventually(lambda: left_open(server) == [])
            assert read(server, [group]) == {(group, 0): 3}
