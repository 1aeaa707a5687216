"""What a server costs that nobody talks to, with the session timers of many members armed.

    python -m bench.quiet [--members 10000] [--seconds 20]

Each member is alone in a group of its own and then says nothing more; its session lasts half an hour. After everything has been
written, processor time and turns of the loop (voluntary context switches) are read from /proc before and after the wait.
"""

from __future__ import annotations

import argparse
import time
from typing import Final, NamedTuple

from bench.targets import BUILD, Daemon, this_server
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.support.client import Client
from tests.support.processes import cpu_s, status

SESSION_MS: Final = 1_800_000
WINDOW: Final = 100
SETTLE_S: Final = 3


class Spent(NamedTuple):
    """What a process has used since its start."""

    processor_s: float
    switches: int


def main() -> None:
    options = _options()
    BUILD.mkdir(exist_ok=True)
    with this_server([]) as server:
        _measure("no members", server, options.seconds)
        _form_groups(server.address, options.members)
        _measure(f"{options.members} members", server, options.seconds)


def _measure(what: str, server: Daemon, seconds: float) -> None:
    time.sleep(SETTLE_S)
    before = _spent(server.pid)
    time.sleep(seconds)
    after = _spent(server.pid)
    used, switches = after.processor_s - before.processor_s, after.switches - before.switches
    print(
        f"{what:>16}: {used * 1000:5.0f} ms of processor time in {seconds:.0f} s ({used / seconds:.2%}), {switches / seconds:.1f} "
        "turns/s"
    )


def _form_groups(address: tuple[str, int], count: int) -> None:
    """Members with one request at a time each, a window of them at once."""
    with Client(address) as client:
        for start in range(0, count, WINDOW):
            groups = [f"quiet-{number}" for number in range(start, min(start + WINDOW, count))]
            for group_id in groups:
                protocols = [JoinGroupRequestProtocol("range", b"")]
                client.send(JoinGroupRequest(group_id, SESSION_MS, SESSION_MS, protocol_type="consumer", protocols=protocols), 3)
            joined = [client.receive() for _ in groups]
            for group_id, answer in zip(groups, joined, strict=True):
                assert isinstance(answer, JoinGroupResponse)
                assert answer.error_code == ErrorCode.NONE
                client.send(SyncGroupRequest(group_id, answer.generation_id, answer.member_id), 3)
            for _ in groups:
                synced = client.receive()
                assert isinstance(synced, SyncGroupResponse)
                assert synced.error_code == ErrorCode.NONE


def _spent(pid: int) -> Spent:
    return Spent(cpu_s(pid), int(status(pid)["voluntary_ctxt_switches"]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quiet", description="What a server costs that nobody talks to.")
    parser.add_argument("--members", type=int, default=10_000, help="members whose sessions are armed (10000)")
    parser.add_argument("--seconds", type=float, default=20, help="how long to look (20)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
