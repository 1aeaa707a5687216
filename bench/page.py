"""How soon the page answers: ten thousand groups, a group of a million events, and heartbeats while fifty viewers look.

    python -m bench.page [--groups 10000] [--events 1000000] [--log commits|rebalances] [--rounds 60] [--only groups,events,viewers]
    python -m bench.page --browser        # as measured in Chromium, too (what `make browser` installs)

Each question is asked ROUNDS times, every time about something else, so that no answer is one that was kept: times are from the
request to the last byte of the answer, and the processor is that of the page's process. The first start makes the index; the second
one is that of a page that was closed yesterday. Fifty viewers follow the status of a running server, and ask anew whenever it
changes, as a browser does, while 200 members send 2,000 heartbeats a second and 200 clients commit once a second; without viewers,
with one, and with all.
"""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from bench import index
from bench.heartbeats_beside import CONNECTIONS, EVERY_S
from bench.load import blast, compiled, plan, set_up
from bench.page_in_browser import in_browser
from bench.targets import this_server
from tests.support.page_log import Story, write_stories
from tests.support.processes import cpu_s, descendants
from tests.support.segments import START_MS

KINDS: Final = ("payments", "shipping", "audit", "search", "fraud-check", "billing", "mailer")
WHAT: Final = ("groups", "events", "viewers")


class Page:
    """A page that serves a directory, and a connection to it."""

    def __init__(self, address: str, pid: int) -> None:
        self.address = address.rstrip("/")
        self.pid = pid
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)

    def ask(self, name: str, **query: Any) -> Any:
        """Return an answer, asked for again until it is there."""
        while True:
            self._connection.request("GET", f"/api/{name}?{urlencode(query)}")
            answer = self._connection.getresponse()
            body = answer.read()
            assert answer.status == 200, body
            found = json.loads(body)
            if "is_exact" not in found or len(found) > 1:
                return found


@contextmanager
def page_of(data: Path) -> Iterator[Page]:
    """The page of a directory without a server."""
    command = [sys.executable, "-m", "coordinator_server", "page", "--listen", "127.0.0.1:0", "--data-dir", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Page(process.stdout.readline().split()[2], process.pid)
        finally:
            process.terminate()


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as directory:
        for what in options.only:
            print(f"load {os.getloadavg()[0]:.1f}", flush=True)
            MEASURED[what](Path(directory) / what, options)


def groups(directory: Path, options: argparse.Namespace) -> None:
    """Many groups: the start, the list, its filter."""
    directory.mkdir()
    rng = Random(1)
    told = []
    for number in range(options.groups):
        told.append(Story(f"{KINDS[number % 7]}-{number:05}", KINDS[number % 5], 1 + number % 6, START_MS + number * 400, number))
        told[-1].join(*(f"svc-{rng.randrange(90)}" for _ in range(1 + number % 3))).commit(times=2)
    data, records = write_stories(directory, told)
    print(f"\n{options.groups:,} groups, {records:,} records")
    with _opened(data, lambda page: page.ask("groups")["groups"] == options.groups) as page:
        ids = [each.group_id for each in told]
        columns = ("group", "members", "partitions", "committed_ms", "state")

        def sorted_by(number: int) -> dict[str, Any]:
            return {"sort": columns[number % 5], "desc": number % 2, "first": 100 * rng.randrange(options.groups // 100)}

        _report(page, "a hundred rows, sorted", options.rounds, lambda number: ("groups", sorted_by(number)))
        typed = [ids[rng.randrange(len(ids))][rng.randrange(3) :] for _ in range(options.rounds)]
        _report(page, "a keystroke in the filter", options.rounds, lambda n: ("groups", {"q": typed[n][: 1 + n % 8]}))
        if options.browser:
            in_browser(page.address, None)


def events(directory: Path, options: argparse.Namespace) -> None:
    """A group of very many events: its picture, its moments."""
    index.write(directory, options.events, has_rebalances=options.log == "rebalances")
    end_ms = START_MS + index.STEP_MS * options.events
    rng = Random(2)
    print(f"\n{options.events:,} records of a group, {options.log}")

    def window(share: float) -> dict[str, int]:
        size = int((end_ms - START_MS) * share)
        since = rng.randrange(START_MS, end_ms - size)
        return {"from": since, "to": since + size}

    with _opened(directory, lambda page: bool(page.ask("groups")["groups"])) as page:
        of = {"id": index.GROUP}
        many = options.rounds
        _report(page, "its first picture", 1, lambda _: ("picture", of | {"columns": 1200}))
        _report(
            page, "zoom and pan: a picture", many, lambda n: ("picture", of | window(0.8 ** (1 + n % 30)) | {"columns": 1200})
        )
        _report(page, "its lag and rate over time", many, lambda n: ("trend", of | window(0.8 ** (1 + n % 30))))
        _report(page, "the slider: a moment", many, lambda _: ("moment", of | {"at": rng.randrange(START_MS, end_ms)}))
        _report(page, "what happened, in words", many, lambda n: ("events", of | window(0.8 ** (1 + n % 30)) | {"limit": 200}))
        _report(page, "the difference of two moments", many, lambda _: ("difference", of | window(0.3)))
        _report(page, "what if, of a thousandth", 20, lambda _: ("what-if", of | window(0.001) | {"static": 1}))
        _report(page, "what if, of all of it", 1, lambda _: ("what-if", of | {"static": 1}))
        if options.browser:
            in_browser(page.address, f"/group?{urlencode(of)}")


def viewers(_: Path, options: argparse.Namespace) -> None:
    """Heartbeats and commits of a server while viewers look at its page."""
    compiled()
    print("\nheartbeats of 200 members, beside 200 commits a second")
    with this_server(["--override", "page.listener=127.0.0.1:0"]) as server:
        members = set_up(server.address, 2 * CONNECTIONS)
        beats, commits = plan(members[:CONNECTIONS], "heartbeat"), plan(members[CONNECTIONS:], "commit 1")
        [line] = [each for each in map(json.loads, server.log().splitlines()) if each["event"] == "page-listening"]
        [pid] = [each for each in descendants(server.pid) if b"\0page\0" in Path(f"/proc/{each}/cmdline").read_bytes()]
        page = Page(line["address"], pid)
        groups_seen = [each.group_id for each in members[CONNECTIONS:][:5]]
        rounds: dict[int, list[tuple[Any, float, list[float]]]] = {count: [] for count in (0, 1, options.viewers)}
        for _round in range(options.server_rounds):
            for count, found in rounds.items():
                with _looking(page.address, count, groups_seen) as took_ms, ThreadPoolExecutor() as both:
                    used = cpu_s(page.pid)
                    load = both.submit(blast, CONNECTIONS, 1, commits, 1, options.seconds, every_s=1)
                    beside = both.submit(blast, CONNECTIONS, 1, beats, 1, options.seconds, every_s=EVERY_S)
                    load.result()
                    found.append((beside.result(), (cpu_s(page.pid) - used) / (options.seconds + 1), took_ms))
        for count, found in rounds.items():
            p50, p99, longest = (
                statistics.median(each[0][name] for each in found) for name in ("p50_ms", "p99_ms", "longest_ms")
            )
            used = statistics.median(each[1] for each in found)
            said = _quantiles([each for _, _, some in found for each in some])
            beats_said = f"heartbeats p50 {p50:6.2f}   p99 {p99:6.2f}   longest {longest:6.2f} ms"
            print(f"  {count:3} viewers: {beats_said}; the page has {used:.2f} of a processor; answers{said}")


@contextmanager
def _looking(address: str, count: int, ids: Sequence[str]) -> Iterator[list[float]]:
    """Viewers that follow the status, and ask anew whenever it changes. The list gets the times of answers, in ms."""
    took_ms: list[float] = []
    is_over = threading.Event()

    def look(number: int) -> None:
        status = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        asking = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        status.request("GET", "/api/status")
        lines = status.getresponse()
        group_id = quote(ids[number % len(ids)])
        of_group = [f"{each}?id={group_id}" for each in ("group", "picture", "events", "pace")]
        views = (["groups?sort=lag&desc=1"], of_group)
        while not is_over.is_set():
            if not lines.readline().startswith(b"data:"):
                continue
            for each in views[number % 2]:
                started_s = time.perf_counter()
                asking.request("GET", f"/api/{each}")
                asking.getresponse().read()
                took_ms.append(1000 * (time.perf_counter() - started_s))
        status.close()
        asking.close()

    threads = [threading.Thread(target=look, args=(number,), daemon=True) for number in range(count)]
    for each in threads:
        each.start()
    try:
        yield took_ms
    finally:
        is_over.set()
        for each in threads:
            each.join()


@contextmanager
def _opened(data: Path, is_there: Callable[[Page], bool]) -> Iterator[Page]:
    """The page at its second start; prints how long both took until all was there."""
    for which in ("first start: the index, and all summaries", "second start: the first answer"):
        started_s = time.perf_counter()
        with page_of(data) as page:
            while not is_there(page):
                time.sleep(0.02)
            print(f"{which:42} {time.perf_counter() - started_s:7.2f} s, {cpu_s(page.pid):7.2f} s of a processor", flush=True)
            if which.startswith("second"):
                yield page


def _report(page: Page, what: str, rounds: int, question: Callable[[int], tuple[str, dict[str, Any]]]) -> None:
    took_ms, used = [], cpu_s(page.pid)
    for number in range(rounds):
        name, query = question(number)
        started_s = time.perf_counter()
        page.ask(name, **query)
        took_ms.append(1000 * (time.perf_counter() - started_s))
    used = 1000 * (cpu_s(page.pid) - used) / rounds
    print(f"{what:34}{_quantiles(took_ms)}, {used:7.1f} of a processor in the mean", flush=True)


def _quantiles(times_ms: Sequence[float]) -> str:
    if not times_ms:
        return ""
    found = sorted(times_ms)
    p99 = found[min(len(found) - 1, int(len(found) * 0.99))]
    return f" p50 {statistics.median(found):7.1f} p99 {p99:7.1f} longest {found[-1]:7.1f} ms"


MEASURED: Final = {"groups": groups, "events": events, "viewers": viewers}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=10_000, help="how many groups the list has (10000)")
    parser.add_argument("--events", type=int, default=1_000_000, help="how many records the one group has (1000000)")
    parser.add_argument(
        "--log", choices=("commits", "rebalances"), default="commits", help="what happens to that group (commits)"
    )
    parser.add_argument("--rounds", type=int, default=60, help="how often each question is asked (60)")
    parser.add_argument("--viewers", type=int, default=50, help="how many look at once (50)")
    parser.add_argument("--server-rounds", type=int, default=3, help="rounds of the heartbeats (3)")
    parser.add_argument("--seconds", type=float, default=8, help="how long a round of heartbeats is (8)")
    parser.add_argument("--only", type=lambda text: text.split(","), default=WHAT, help=f"some of {','.join(WHAT)} (all)")
    parser.add_argument("--browser", action="store_true", help="in Chromium, too")
    options = parser.parse_args()
    if options.browser and importlib.util.find_spec("playwright") is None:
        parser.error("playwright is missing: `make browser` installs it")
    return options


if __name__ == "__main__":
    main()
