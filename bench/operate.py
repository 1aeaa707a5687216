"""A server as an operator has it: installed from its wheel, watched by all means at once,
while a loop is killed and a group is stuck.

    python -m bench.operate [--groups 10000] [--beating 5000] [--interval 3] [--seconds 20] [--wheel FILE]

    install   the wheel (built here if none is named) in a virtual environment of its own, where this tree is not
    start     `serve --config server.toml` with two loops and `metrics.listener`
    load      the groups; --beating of them have a member with a connection of its own and a heartbeat each --interval seconds
    calm      --seconds; /metrics is scraped each second and parsed, /readyz asked 20 times a second, `top` is open on a terminal
    kill      kill -9 of loop 1; then of each process that the supervisor starts in its place, until that waits for 4 s: `doctor`
              is run
    stuck     a member does not give up its partitions: `doctor`, and the command that it names, have to find and explain it
    stop      SIGTERM, with all connections open

Prints figures, and what an operator relies on, each with ok or FAILED. Exit code 1 if anything of that has failed. Times are not
judged, except that a stuck group is explained within a minute, and that the stop takes at most five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import uvloop

from bench.beating import Beating, Home, commit_everywhere
from bench.observers import Prober, Scraper, Top
from bench.targets import BUILD, Address
from coordinator_server.runtime.partitioner import partition_for
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from tests.support.client import Client
from tests.support.cluster_commands import join_consumer
from tests.support.control import ask_control
from tests.support.eventually import eventually
from tests.support.server import READY, ROOT
from tests.support.simple_requests import coordinator

TOPIC: Final = "orders"
PARTITIONS: Final = 6
VICTIM: Final = 1
DEATHS: Final = 5
"""After so many the supervisor waits for four seconds; the next one would be final."""
STUCK: Final = "stuck"
EXPLAINED_S, STOPPED_S = 60.0, 5.0
START_S: Final = 120.0
SOON_S: Final = 60.0
_LOOK_S: Final = 0.02

CONFIG: Final = """\
loops = 2
listeners = "PLAINTEXT://127.0.0.1:0"
topics = ["{topic}:{partitions}"]

[metrics]
listener = "127.0.0.1:0"

[group]
"initial.rebalance.delay.ms" = 0
"""


class Installed:
    """The package in a virtual environment of its own."""

    def __init__(self, directory: Path, wheel: Path | None) -> None:
        wheel = wheel or _built(directory)
        venv = directory / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        self._bin = venv / "bin"
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "-q",
            "--disable-pip-version-check",
            "--python",
            self._bin / "python",
        ]
        subprocess.run([*pip, "install", "--no-deps", wheel], check=True)
        # What the package needs comes from here; an editable installation is not found through a .pth file.
        site = "import sysconfig; print(sysconfig.get_path('purelib'))"
        found = subprocess.run([self._bin / "python", "-c", site], check=True, capture_output=True, text=True).stdout.strip()
        Path(found, "tools.pth").write_text(sysconfig.get_path("purelib"))
        self.version = self.run(directory, "--version").stdout.strip()

    def command(self, *words: str) -> list[str]:
        return [str(self._bin / "coordinator-server"), *words]

    def run(self, directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command. Its exit code is the caller's to look at."""
        return subprocess.run(self.command(*words), cwd=directory, capture_output=True, text=True, check=False, timeout=120)


def _built(directory: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "-q")
    command = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(directory), str(ROOT)]
    subprocess.run(command, check=True)
    [wheel] = directory.glob("*.whl")
    return wheel


class Report:
    """Figures, and claims that hold or do not."""

    def __init__(self) -> None:
        self.has_failed = False

    def figure(self, text: str) -> None:
        print(text, flush=True)

    def claim(self, text: str, *, holds: bool, otherwise: object = "") -> None:
        """Print a claim. ``otherwise`` is printed if it does not hold."""
        self.has_failed |= not holds
        print(f"  ok      {text}" if holds else f"  FAILED  {text}: {otherwise}", flush=True)


class Operated:
    """A running server, and the addresses of its loops and its metrics."""

    def __init__(self, installed: Installed, directory: Path) -> None:
        self.installed = installed
        self.directory = directory
        self.data_dir = directory / "data"
        self._log = directory / "server.log"
        self._killed: set[int] = set()
        config = directory / "server.toml"
        config.write_text(CONFIG.format(topic=TOPIC, partitions=PARTITIONS))
        command = installed.command("serve", "--config", str(config), "--data-dir", str(self.data_dir))
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        ready = READY.match(self.process.stdout.readline())
        if ready is None:
            raise SystemExit(f"the server did not start:\n{self._log.read_text()}")
        hosts = [each.rpartition(":") for each in ready["addresses"].split(",")]
        self.addresses: list[Address] = [(host, int(port)) for host, _, port in hosts]
        [line] = self.lines("metrics-listening")
        self.metrics = str(line["address"]).removesuffix("/metrics")

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of the log about an event."""
        return [each for each in map(json.loads, self._log.read_text().splitlines()) if each.get("event") == event]

    def home(self, group_id: str) -> Home:
        return Home(group_id, self.addresses[partition_for(group_id, 50) % len(self.addresses)])

    async def doctor(self, *words: str) -> list[dict[str, Any]]:
        """Return what the doctor finds about the directory and its server."""
        command = ("doctor", "--data-dir", str(self.data_dir), "-o", "json", *words)
        done = await asyncio.to_thread(self.installed.run, self.directory, *command)
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows

    def kill(self, loop: int) -> float:
        """Kill the process of a loop, as soon as there is one that was not killed. Return when."""
        while (pid := ask_control(self.data_dir, op="loops")["loops"][loop]["pid"]) in self._killed:
            time.sleep(_LOOK_S)
        self._killed.add(pid)
        os.kill(pid, signal.SIGKILL)
        return time.monotonic()


async def operate(server: Operated, report: Report, options: argparse.Namespace) -> None:
    """Tell the story, up to the stop."""
    homes = [server.home(f"group-{number}") for number in range(options.groups)]
    beating, idle = Beating(homes[: options.beating], TOPIC, options.interval), homes[options.beating :]
    began_s = time.monotonic()
    await commit_everywhere(idle, TOPIC)
    await beating.begin()
    report.figure(f"{len(homes):,} groups, {options.beating:,} of them with a member: {time.monotonic() - began_s:.1f} s")
    top = Top(server.installed.command("top", "--interval", "1", "--bootstrap", "{}:{}".format(*server.addresses[0])))
    with Scraper(server.metrics) as scraper, Prober(server.metrics) as prober:
        await asyncio.sleep(2 * options.interval)
        beating.take()
        await asyncio.sleep(options.seconds)
        _tell_waits(report, "calm", server, beating)
        await _kill_once(server, report, beating, prober, options.seconds)
        await _kill_often(server, report, prober, scraper)
        await _explain_stuck(server, report)
    pictures, code = top.pictures, await asyncio.to_thread(top.quit)
    report.claim("top ends with q", holds=code == 0, otherwise=f"exit code {code}")
    report.figure(f"top: {len(pictures)} pictures")
    loops = [f"node {number + 1} at" for number in range(2)]
    shown = [each for _, each in pictures if all(loop in each for loop in loops) and f"{len(homes):,} groups" in each]
    report.claim("top shows both loops and all groups", holds=bool(shown), otherwise=pictures[-1:])
    took = sorted(each.took_s for each in scraper.scrapes)
    report.figure(
        f"scrapes: {len(took)}, half of them within {took[len(took) // 2] * 1000:.0f} ms, longest {took[-1] * 1000:.0f} ms"
    )
    report.claim("every scrape is parsed", holds=not scraper.failures, otherwise=scraper.failures[:3])
    _check_metrics(report, scraper, options)
    report.claim("no member has lost its membership", holds=not beating.lost, otherwise=beating.lost[:3])
    report.figure(f"connections that were opened again: {beating.connected_again:,}")
    await _stop(server, report)
    await beating.end()


async def _kill_once(server: Operated, report: Report, beating: Beating, prober: Prober, seconds: float) -> None:
    killed_s = await asyncio.to_thread(server.kill, VICTIM)
    away = await _seen(prober, killed_s, ready=False)
    back = await _seen(prober, away.at_s, ready=True)
    await asyncio.sleep(max(0.0, killed_s + seconds - time.monotonic()))
    report.figure(f"killed: /readyz is 503 after {away.at_s - killed_s:.2f} s, and 200 again after {back.at_s - killed_s:.2f} s")
    report.claim("/readyz names the loop", holds=any(f"loop {VICTIM}" in each for each in away.why), otherwise=away)
    _tell_waits(report, "with the kill", server, beating)


async def _seen(prober: Prober, since_s: float, *, ready: bool) -> Any:
    deadline = time.monotonic() + SOON_S
    while (found := prober.since(since_s, ready=ready)) is None:
        if time.monotonic() > deadline:
            raise SystemExit(f"/readyz was never {'200' if ready else '503'}: {prober.answers[-1]}")
        await asyncio.sleep(_LOOK_S)
    return found


async def _kill_often(server: Operated, report: Report, prober: Prober, scraper: Scraper) -> None:
    for _ in range(DEATHS - 1):
        killed_s = await asyncio.to_thread(server.kill, VICTIM)
    findings = await server.doctor("--watch", "0.1")
    said_s = time.monotonic() - killed_s
    problems = [each["what"] for each in findings if each["severity"] == "problem"]
    report.figure(f"doctor, {said_s:.1f} s after the kill: {problems}")
    named = [each for each in problems if each.startswith(f"loop {VICTIM} does not serve")]
    report.claim("doctor names the loop that is away", holds=bool(named), otherwise=findings)
    down = [each for each in scraper.scrapes if each.value("coordinator_loop_up", loop=str(VICTIM)) == 0]
    report.claim("metrics say that it is down", holds=bool(down), otherwise="coordinator_loop_up was never 0")
    await _seen(prober, time.monotonic(), ready=True)
    after = await server.doctor("--watch", "0.1")
    restarted = [each["what"] for each in after if each["severity"] == "warning" and "restarted" in each["what"]]
    report.claim("doctor says afterwards how often it was restarted", holds=bool(restarted), otherwise=after)
    report.claim("and finds no problem", holds=all(each["severity"] != "problem" for each in after), otherwise=after)


def _check_metrics(report: Report, scraper: Scraper, options: argparse.Namespace) -> None:
    last = scraper.scrapes[-1]
    starts = last.value("coordinator_loop_starts_total", loop=str(VICTIM))
    report.claim(f"metrics have {DEATHS + 1} starts of the loop", holds=starts == DEATHS + 1, otherwise=starts)
    members = sum(last.value("coordinator_group_members", loop=str(loop), type="classic") or 0 for loop in range(2))
    report.claim("metrics have all members", holds=members == options.beating, otherwise=members)


def _tell_waits(report: Report, when: str, server: Operated, beating: Beating) -> None:
    taken = beating.take()
    for loop, address in enumerate(server.addresses):
        waits = taken[address]
        p50, p99 = (waits[len(waits) * part // 100] * 1000 for part in (50, 99))
        report.figure(
            f"heartbeats of loop {loop}, {when}: {len(waits):,}   p50 {p50:.2f}   p99 {p99:.2f}   longest {waits[-1] * 1000:.1f} ms"
        )


async def _explain_stuck(server: Operated, report: Report) -> None:
    holder = await asyncio.to_thread(_get_stuck, server)
    began_s = time.monotonic()
    found = [each for each in await server.doctor() if each["check"] == "groups" and each["severity"] == "problem"]
    report.claim(
        "doctor finds the stuck group, and who holds it up", holds=any(holder in each["what"] for each in found), otherwise=found
    )
    words = re.findall(r"'coordinator-server (groups why [^']+)'", " ".join(each["action"] for each in found))
    done = await asyncio.to_thread(server.installed.run, server.directory, *shlex.split(words[0] if words else "groups why"))
    took_s = time.monotonic() - began_s
    report.figure(f"a stuck group: found and explained within {took_s:.1f} s, by two commands")
    report.claim("groups why explains it", holds=done.returncode == 0 and holder in done.stdout, otherwise=done)
    report.claim(f"within {EXPLAINED_S:g} s", holds=took_s < EXPLAINED_S, otherwise=took_s)


def _get_stuck(server: Operated) -> str:
    """Let a member of a group hold partitions that another one is to get. Return its id."""
    with Client(server.addresses[0]) as client:
        home = coordinator(client, STUCK)
    with Client(home, client_id="worker-7") as client:
        join_consumer(client, STUCK, "holder", TOPIC, range(PARTITIONS))
    request = ConsumerGroupHeartbeatRequest(STUCK, "late", 0, subscribed_topic_names=[TOPIC], rebalance_timeout_ms=600_000)
    request.topic_partitions = []
    with Client(home, client_id="worker-8") as client:
        epoch = client.ask(request, 1, ConsumerGroupHeartbeatResponse).member_epoch

        def is_assigned() -> bool:
            """The target is computed with a heartbeat, a second after the member has joined."""
            nonlocal epoch
            epoch = client.ask(
                ConsumerGroupHeartbeatRequest(STUCK, "late", epoch), 1, ConsumerGroupHeartbeatResponse
            ).member_epoch
            [group] = client.ask(ConsumerGroupDescribeRequest([STUCK]), 1, ConsumerGroupDescribeResponse).groups
            return group.group_state == "Reconciling"

        eventually(is_assigned)
    return "holder"


async def _stop(server: Operated, report: Report) -> None:
    began_s = time.monotonic()
    server.process.terminate()
    code = await asyncio.to_thread(server.process.wait, SOON_S)
    took_s = time.monotonic() - began_s
    report.figure(f"SIGTERM with all connections open: ended within {took_s:.2f} s")
    report.claim("the server ends with exit code 0", holds=code == 0, otherwise=code)
    report.claim(f"within {STOPPED_S:g} s", holds=took_s < STOPPED_S, otherwise=took_s)
    cut = server.lines("stop-cut-short") + server.lines("loops-killed")
    report.claim("and no loop was cut short", holds=not cut, otherwise=cut)


def main() -> None:
    options = _options()
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="operate-", dir=BUILD) as name:
        directory, report = Path(name), Report()
        installed = Installed(directory, options.wheel)
        report.figure(installed.version)
        server = Operated(installed, directory)
        try:
            uvloop.run(operate(server, report, options))
        finally:
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait()
    sys.exit(1 if report.has_failed else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.operate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=10_000, metavar="N", help="(default 10000)")
    parser.add_argument("--beating", type=int, default=5_000, metavar="N", help="groups with a member (default 5000)")
    parser.add_argument("--interval", type=float, default=3, metavar="S", help="between two heartbeats of a member (default 3)")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="of the calm, and after the kill (default 20)")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="the wheel to install (default: the pure one, built here)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
