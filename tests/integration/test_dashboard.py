"""Every query of the dashboard and every alert rule, run by Prometheus over scrapes of a server in
which there is something to show.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from coordinator_server.pipeline.report import JobRun, JobTotals, Outcome, ScheduleReport
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from tests.support.client import Client
from tests.support.control import ask_control
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.ports import free_port
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.simple_requests import make_topic

DEPLOY = Path(__file__).parents[2] / "deploy"
JOBS = ("compact", "verify")
# What does not happen here. Such a query has a result, too: 0.
QUIET = {
    "coordinator_parked_answers",
    "coordinator_waiting_connections",
    "coordinator_slow_turns_total",
    "coordinator_sessions_expired_total",
    "coordinator_refused_submits_total",
    "coordinator_compactions_total",
    "coordinator_shard_moves_total",
}

pytestmark = pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")


class Prometheus:
    """A server of the shipped configuration that scrapes one address five times a second."""

    def __init__(self, directory: Path, target: str) -> None:
        self._url = f"http://127.0.0.1:{free_port()}"
        config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        config["global"] |= {"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "1s"}
        config["rule_files"] = [str(DEPLOY / "prometheus" / name) for name in config["rule_files"]]
        config["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
        file = directory / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        with (directory / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={file}",
                    f"--storage.tsdb.path={directory / 'tsdb'}",
                    f"--web.listen-address={self._url.removeprefix('http://')}",
                ],
                stderr=log,
            )

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The samples of a query; none while Prometheus starts."""
        found = self._get("query", query=query)
        return [] if found is None else found["result"]

    def counters(self) -> set[tuple[tuple[str, str], ...]]:
        """The series that were scraped last."""
        return {tuple(sorted(each["metric"].items())) for each in self.ask('{__name__=~"coordinator_.*_total"}')}

    def unhealthy_rules(self) -> list[str]:
        """The alerts whose rules were not evaluated."""
        [group] = self._get("rules")["groups"]
        return [rule["name"] for rule in group["rules"] if rule["health"] != "ok"]

    def _get(self, path: str, **parameters: str) -> Any:
        try:
            with urllib.request.urlopen(f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            if refused.code != 503:
                pytest.fail(f"{parameters}: {refused.read().decode()}")
        except urllib.error.URLError:
            pass
        return None


def targets() -> Iterator[tuple[str, str, str]]:
    """Title, query and legend of each query of the dashboard."""
    for panel in json.loads((DEPLOY / "grafana/dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            query = target["expr"].replace("$__rate_interval", "2s").replace("$instance", ".*").replace("$loop", ".*")
            yield panel["title"], query, target["legendFormat"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), {"metrics.listener": "127.0.0.1:0"}) as server:
        # Groups and transactional ids are counted at the first scrape, and then every ten seconds.
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
        [member] = form_group(server.address, "readers", 1)
        member.commit("orders", {0: 1})
        with Producer(server.address, "payments-1") as producer:
            producer.init()
        with closing(member.client):
            yield server


@pytest.fixture(scope="module")
def prometheus(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    [address] = [line["address"] for line in map(json.loads, server.log().splitlines()) if line["event"] == "metrics-listening"]
    target = address.removeprefix("http://").removesuffix("/metrics")
    with closing(Prometheus(tmp_path_factory.mktemp("prometheus"), target)) as prometheus:
        eventually(lambda: prometheus.ask("up == 1"))
        tell_jobs(server, 0)
        yield prometheus


def tell_jobs(server: Server, done: int) -> None:
    """Report as ``pipeline --every`` does."""
    report = ScheduleReport(1, "python", 1000, 1, jobs={name: JobTotals() for name in JOBS})
    for name in JOBS:
        for _ in range(done):
            report.jobs[name].add(JobRun(name, Outcome.DONE, 1, 0.5, "done"))
    assert ask_control(server.data_dir, op="pipeline-report", by="schedule", report=msgspec.to_builtins(report))["ok"]


def act(server: Server, number: int) -> None:
    """Once of each: an error, a rebalance, an incident, commits, a run of each job."""
    with Client(server.address) as client:
        client.ask(DeleteTopicsRequest(topics=[DeleteTopicState("none")]), 6, DeleteTopicsResponse)
    [member] = form_group(server.address, f"group-{number}", 1)
    member.commit("orders", {0: 1})
    member.client.close()
    with socket.create_connection(server.address) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert stranger.recv(1) == b""
    tell_jobs(server, number + 1)


def test_every_query_of_the_dashboard_shows_what_happened(server: Server, prometheus: Prometheus) -> None:
    """From the first case on: each counter that it asks for begins with 0, or is shown although it does not."""
    eventually(lambda: prometheus.ask('count_over_time(coordinator_job_runs_total{outcome="done"}[1h]) > 1'))
    before = prometheus.counters()
    left = dict.fromkeys(targets())
    act(server, 0)

    def all_show() -> bool:
        for each in list(left):
            title, query, legend = each
            names = set(re.findall(r"coordinator_\w+", query))
            found = prometheus.ask(query if names & QUIET else f"({query}) > 0")
            if found:
                assert all(set(re.findall(r"{{(\w+)}}", legend)) <= one["metric"].keys() for one in found), title
                del left[each]
        return not left

    eventually(all_show, describe=lambda: list(left))
    born = {dict(each)["__name__"] for each in prometheus.counters() - before}
    assert born == {"coordinator_request_errors_total"}


def test_each_job_has_a_line_of_its_own(prometheus: Prometheus) -> None:
    """Prometheus has a label ``job`` of its own, and calls one of ours ``exported_job``."""
    [query] = [query for _, query, _ in targets() if "coordinator_job_runs_total" in query]

    found = {(each["metric"]["job_name"], each["metric"]["outcome"]) for each in prometheus.ask(query)}

    assert found == {(job, outcome) for job in JOBS for outcome in Outcome}
    assert prometheus.ask('{exported_job!=""}') == prometheus.ask('{exported_instance!=""}') == []


def test_no_alert_fires_of_a_server_in_order(prometheus: Prometheus) -> None:
    """And all rules are evaluated."""
    eventually(lambda: not prometheus.unhealthy_rules())

    assert prometheus.ask('ALERTS{alertstate="firing"}') == []
