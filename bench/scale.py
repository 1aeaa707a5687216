"""What a server with very many groups does, how that grows with their number, and how long it keeps the server from everybody else.

    python -m bench.scale [--groups 5000,10000,20000] [--offsets 20] [--members 1000,2000,4000] [--rest 10] [--only digest]
                          [--ours 'WORDS']
    make bench ARGS=--scale
    python -m bench.scale --groups 1000000 --members 100000 --only list      # one size: no slopes
    python -m bench.scale --groups 1000000 --members 0 --check 300 --rest 420 --ahead 1000 --only days   # memory of two days

One loop. Groups with committed offsets, and members of consumer and of classic groups, ten in each. A process beside asks
something small every two milliseconds; its longest wait is that of any other client. For each thing that is done: the processor
time of the loop, the longest wait, and the resident memory afterwards, at each size; and the exponents with which time and memory
(without that of an empty server) grow. 1 is linear. Figures of each size are printed to stderr as they come.

All groups commit twice, and then nobody commits for --rest seconds, in which passes that are --check seconds apart let groups rest.
On the next day they commit again, and rest again. Groups also rest while others still commit, unless passes are far apart.

The last three are what a program cannot ask for: all sessions end at once after a start, because no member sends a heartbeat; a
pass over all offsets finds none that has expired, and one finds that all have.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from bench.bystander import bystander
from bench.slopes import cells, numbers, width
from bench.targets import Daemon, this_server
from protocol.fields import Message
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.control import ask_line
from tests.support.processes import cpu_s, memory_mb

TOPIC: Final = "orders"
MEMBERS_PER_GROUP: Final = 10
JOIN_AT_ONCE: Final = 200
REBALANCE_DELAY_MS: Final = 200
ASK_EVERY_S: Final = 0.002
DESCRIBED_AT_ONCE: Final = 10_000
SESSION_MS: Final = 1_800_000
SHORT_SESSION_MS: Final = 10_000
MINUTE_MS: Final = 60_000
WITHIN_S: Final = 600
EMPTY: Final = "an empty server"
# Below these, a figure is noise: it gets no exponent.
LEAST_S: Final = 0.02
LEAST_MS: Final = 20.0
LEAST_MB: Final = 2.0


class Size(NamedTuple):
    """Groups with offsets, and members, half of them of classic groups."""

    groups: int
    members: int


class Scale:
    """A server, and what it is asked to do."""

    def __init__(self, server: Daemon, size: Size, options: argparse.Namespace) -> None:
        self._server, self._size, self._options = server, size, options

    # What fills it

    def commit(self) -> str:
        rows = [OffsetCommitRequestPartition(index, 7) for index in range(self._options.offsets)]
        topics = [OffsetCommitRequestTopic(TOPIC, partitions=rows)]
        self._send((OffsetCommitRequest(group_id, topics=topics) for group_id in self._readers()), 8)
        return f"{self._size.groups} groups with {self._options.offsets} offsets"

    def commit_again(self) -> str:
        """From other connections, as consumers that come back."""
        return self.commit()

    def await_rest(self) -> str:
        time.sleep(self._options.rest)
        return "nobody commits"

    def commit_next_day(self) -> str:
        """Over what rests."""
        return self.commit()

    def await_next_rest(self) -> str:
        return self.await_rest()

    def join_consumer_groups(self) -> str:
        half = self._size.members // 2
        self._send(
            (
                ConsumerGroupHeartbeatRequest(
                    _group("new", number),
                    f"0b7c5a70-5d5c-4a5c-9f70-{number:012d}",
                    0,
                    rebalance_timeout_ms=MINUTE_MS,
                    subscribed_topic_names=[TOPIC],
                    topic_partitions=[],
                )
                for number in range(half)
            ),
            0,
        )
        return f"{half} members of consumer groups"

    def join_classic_groups(self) -> str:
        """Members of some groups at a time join at once, each over a connection of its own."""
        half = self._size.members // 2
        protocols = [JoinGroupRequestProtocol("range", b"subscription")]
        clients = [Client(self._server.address, timeout_s=WITHIN_S) for _ in range(JOIN_AT_ONCE)]
        for start in range(0, half, JOIN_AT_ONCE):
            joining = [(client, _group("old", start + number)) for number, client in enumerate(clients) if start + number < half]
            for client, group_id in joining:
                client.send(JoinGroupRequest(group_id, SESSION_MS, SESSION_MS, protocol_type="consumer", protocols=protocols), 3)
            for client, group_id in joining:
                joined = client.receive()
                assert isinstance(joined, JoinGroupResponse)
                client.send(SyncGroupRequest(group_id, joined.generation_id, joined.member_id), 3)
            for client, _ in joining:
                client.receive()
        for client in clients:
            client.close()
        return f"{half} members of classic groups"

    # What it is asked for

    def list_groups(self) -> str:
        with Client(self._server.address, timeout_s=WITHIN_S) as client:
            client.send(ListGroupsRequest(), 4)
            data = client.receive_frame()
        return f"{len(data) / 1e6:.1f} MB"

    def describe_groups(self) -> str:
        """Every group, many in a request."""
        groups = list(self._readers()) + [_group("old", number) for number in self._firsts()]
        size = 0
        with Client(self._server.address, timeout_s=WITHIN_S) as client:
            for start in range(0, len(groups), DESCRIBED_AT_ONCE):
                client.send(DescribeGroupsRequest(groups[start : start + DESCRIBED_AT_ONCE]), 5)
                size += len(client.receive_frame())
        return f"{size / 1e6:.1f} MB, {DESCRIBED_AT_ONCE} in a request"

    def describe_consumer_groups(self) -> str:
        with Client(self._server.address, timeout_s=WITHIN_S) as client:
            client.send(ConsumerGroupDescribeRequest([_group("new", number) for number in self._firsts()]), 0)
            return f"{len(client.receive_frame()) / 1e6:.1f} MB"

    def fetch_all(self) -> str:
        """All offsets of every group, a hundred groups in a request."""
        groups, size = list(self._readers()), 0
        with Client(self._server.address, timeout_s=WITHIN_S) as client:
            for start in range(0, len(groups), 100):
                wanted = [OffsetFetchRequestGroup(group_id, topics=None) for group_id in groups[start : start + 100]]
                client.send(OffsetFetchRequest(groups=wanted), 8)
                size += len(client.receive_frame())
        return f"{size / 1e6:.1f} MB"

    def scrape(self) -> str:
        """As a metrics process does it, each second. The first one begins to count groups."""
        for _ in range(10):
            size = self._ask("metrics")
            time.sleep(1)
        return f"{size / 1e3:.0f} kB, ten times, one each second"

    def status(self) -> str:
        return f"{self._ask('status') / 1e3:.0f} kB"

    def groups(self) -> str:
        """A page after the other."""
        size, left = 0, None
        while left != []:
            answer = ask_line(self._server.data_dir, {"op": "groups"} | ({"shards": left} if left else {}), WITHIN_S)
            size, left = size + len(answer), json.loads(answer)["left"]
        return f"{size / 1e6:.1f} MB"

    def digest(self) -> str:
        return f"{self._ask('digest') / 1e3:.0f} kB"

    def digest_of_groups(self) -> str:
        return f"{self._ask('digest', parts=True) / 1e6:.1f} MB"

    def backup(self) -> str:
        directory = self._server.data_dir
        done = run_command("backup", "--data-dir", directory, "--to", directory.parent / "backup", "--json", within_s=WITHIN_S)
        assert done.returncode == 0, done.stderr
        return f"{json.loads(done.stdout)['copied_bytes'] / 1e6:.1f} MB copied"

    def compact(self) -> str:
        done = run_command("compact", "--engine", "python", "--data-dir", self._server.data_dir, within_s=WITHIN_S)
        assert done.returncode == 0, done.stderr
        return ""

    # What comes by itself

    def await_sessions(self) -> str:
        """All sessions of consumer groups end at once."""
        expired = 0
        while expired < self._size.members // 2:
            time.sleep(1)
            answer = json.loads(ask_line(self._server.data_dir, {"op": "metrics"}, WITHIN_S))
            [[expired]] = answer["metrics"][0]["samples"]["sessions_expired"]
        return f"{expired} sessions"

    def await_check(self) -> str:
        time.sleep(2.5 * self._options.check)
        return f"two passes, {self._options.check} s apart"

    def await_expiry(self) -> str:
        left = -1
        while left:
            time.sleep(5)
            with Client(self._server.address, timeout_s=WITHIN_S) as client:
                answer = client.ask(ListGroupsRequest(), 4, ListGroupsResponse)
            left = sum(each.group_id.startswith("readers-") for each in answer.groups)
        return "no groups with offsets are left"

    def _readers(self) -> Iterator[str]:
        return (f"readers-{number:06d}" for number in range(self._size.groups))

    def _firsts(self) -> range:
        """The number of the first member of each group."""
        return range(0, self._size.members // 2, MEMBERS_PER_GROUP)

    def _send(self, requests: Iterator[Message], version: int) -> None:
        with Client(self._server.address, timeout_s=WITHIN_S) as client:
            waiting = 0
            for request in requests:
                client.send(request, version)
                waiting += 1
                if waiting == self._options.ahead:
                    for _ in range(waiting):
                        answer = client.receive()
                        assert not getattr(answer, "error_code", 0), answer
                    waiting = 0
            for _ in range(waiting):
                client.receive()

    def _ask(self, operation: str, **more: object) -> int:
        answer = ask_line(self._server.data_dir, {"op": operation, **more}, WITHIN_S)
        assert answer.startswith(b'{"ok":true'), answer[:200]
        return len(answer)


def _group(kind: str, member: int) -> str:
    return f"{kind}-{member // MEMBERS_PER_GROUP:06d}"


class Measured(NamedTuple):
    """What one thing took: seconds by the clock and of the loop's processor, the longest wait of others (ms; -1 while the server
    was away), and resident memory afterwards and at most until then, MB.
    """

    seconds: float
    loop_s: float
    wait_ms: float
    memory_mb: float
    peak_mb: float
    said: str


def main() -> None:
    options = _options()
    members = options.members or [max(2 * MEMBERS_PER_GROUP, count // 5) for count in options.groups]
    if len(members) != len(options.groups):
        raise SystemExit("as many --members as --groups")
    sizes = [Size(groups, count) for groups, count in zip(options.groups, members, strict=True)]
    found = [_measure_at(size, options) for size in sizes]
    groups = [size.groups for size in sizes]
    of_size = "; ".join(f"{size.groups:,} groups and {size.members:,} members" for size in sizes)
    print(f"{options.offsets} offsets in each group; {of_size}. ^1 is linear")
    print(f"{'':26}" + "  ".join(f"{head:>{width(groups)}}" for head in ("s of the loop", "longest wait, ms", "MB")))
    empty_mb = [each[EMPTY].memory_mb for each in found]
    for name in found[0]:
        rows = [each[name] for each in found]
        columns = (
            cells(groups, [row.loop_s for row in rows], ".2f", LEAST_S),
            cells(groups, [row.wait_ms for row in rows], ".0f", LEAST_MS),
            cells(groups, [row.memory_mb for row in rows], ".0f", LEAST_MB, empty_mb),
        )
        print(f"{name:26}" + "  ".join(columns))


def _measure_at(size: Size, options: argparse.Namespace) -> dict[str, Measured]:
    with this_server(shlex.split(options.ours)) as server:
        server.stop()
        server.overrides |= {
            "topics": f"{TOPIC}:{options.offsets}",
            "log.cleaner.enable": "false",
            "offsets.retention.check.interval.ms": 1000 * options.check,
            "group.initial.rebalance.delay.ms": REBALANCE_DELAY_MS,
            "group.consumer.max.session.timeout.ms": SESSION_MS,
            "group.consumer.session.timeout.ms": SESSION_MS,
        }
        server.start()
        scale = Scale(server, size, options)
        found = {EMPTY: Measured(0, 0, -1, memory_mb(server.pid), 0, "")}

        def note(name: str, measured: Measured) -> None:
            found[name] = measured
            print(
                f"{size.groups:9,} {name:26}{measured.seconds:8.2f} s   loop {measured.loop_s:7.2f} s   longest wait"
                f" {measured.wait_ms:7.1f} ms   {measured.memory_mb:6.0f} MB (peak {measured.peak_mb:.0f})   {measured.said}",
                file=sys.stderr,
                flush=True,
            )

        for fill in (
            scale.commit, scale.commit_again, scale.await_rest, scale.commit_next_day, scale.await_next_rest,
            scale.join_consumer_groups, scale.join_classic_groups,
        ):  # fmt: skip
            note(_name(fill), _measure(fill, server))
        for ask in (
            scale.list_groups, scale.describe_groups, scale.describe_consumer_groups, scale.fetch_all, scale.scrape, scale.status,
            scale.groups, scale.digest, scale.digest_of_groups, scale.backup, scale.compact,
        ):  # fmt: skip
            if _is_wanted(_name(ask), options):
                note(_name(ask), _measure(ask, server))
        short = {
            "group.consumer.min.session.timeout.ms": SHORT_SESSION_MS,
            "group.consumer.session.timeout.ms": SHORT_SESSION_MS,
        }
        if _is_wanted("start", options):
            note("start", _restart({}, server))
        for name, overrides, wait in (
            ("sessions end", short, scale.await_sessions),
            ("nothing expires", {}, scale.await_check),
            ("all expires", {"offsets.retention.minutes": 1}, scale.await_expiry),
        ):
            if _is_wanted(name, options):
                _restart(overrides, server)
                note(name, _measure(wait, server))
    return found


def _is_wanted(name: str, options: argparse.Namespace) -> bool:
    return not options.only or any(each in name for each in options.only)


def _measure(work: Callable[[], str], server: Daemon) -> Measured:
    with bystander(server.address, ASK_EVERY_S) as longest:
        time.sleep(0.2)
        before, began = cpu_s(server.pid), time.monotonic()
        said = work()
        seconds, used = time.monotonic() - began, cpu_s(server.pid) - before
        time.sleep(0.2)
        wait_ms = longest()
    return Measured(seconds, used, wait_ms, memory_mb(server.pid), memory_mb(server.pid, "VmHWM"), said)


def _restart(overrides: Mapping[str, object], server: Daemon) -> Measured:
    began = time.monotonic()
    server.stop(within_s=120)
    stopped = time.monotonic()
    server.overrides |= overrides
    server.start()
    seconds, used = time.monotonic() - stopped, cpu_s(server.pid)
    memory = memory_mb(server.pid), memory_mb(server.pid, "VmHWM")
    return Measured(seconds, used, -1, *memory, f"stopped in {stopped - began:.2f} s")


def _name(function: Callable[..., str]) -> str:
    return function.__name__.replace("_", " ")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--groups", type=numbers, default=[5_000, 10_000, 20_000], metavar="N,N,N", help="with offsets, at each size"
    )
    parser.add_argument("--offsets", type=int, default=20, metavar="N", help="of each (%(default)s)")
    parser.add_argument("--members", type=numbers, metavar="N,N,N", help="half of them of classic groups (a fifth of the groups)")
    parser.add_argument(
        "--rest", type=int, default=10, metavar="SECONDS", help="for groups to come to rest; a million take minutes (%(default)s)"
    )
    parser.add_argument("--check", type=int, default=4, metavar="SECONDS", help="between passes (%(default)s; a server: 600)")
    parser.add_argument("--ahead", type=int, default=100, metavar="N", help="commits and joins without an answer (%(default)s)")
    parser.add_argument("--ours", default="", metavar="WORDS", help="this server, started so")
    parser.add_argument("--only", action="append", metavar="WORD", help="of what comes after the members; may be repeated")
    return parser.parse_args()


if __name__ == "__main__":
    main()
