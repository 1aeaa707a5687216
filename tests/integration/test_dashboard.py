"""Every query of the dashboard and every alert rule, run by Prometheus over scrapes of a server in
which there is something to show.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from coordinator_server.pipeline.report import JobRun, JobTotals, Outcome, ScheduleReport
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from tests.support.client import Client
from tests.support.control import ask_control
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.producer import Producer
from tests.support.prometheus import OF_STORE, Prometheus, Target, metrics_address, targets
from tests.support.server import Server
from tests.support.simple_requests import make_topic

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


def _query_of(target: Target) -> str:
    """What was counted is more than 0, unless nothing happened that counts it."""
    return target.query if target.names & QUIET else f"({target.query}) > 0"


pytestmark = pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed")


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
    with closing(Prometheus(tmp_path_factory.mktemp("prometheus"), metrics_address(server))) as prometheus:
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
    # Those of nodes are asked in test_nodes.py.
    left = [each for each in targets() if not each.names & OF_STORE]
    act(server, 0)
    eventually(lambda: prometheus.show_all(left, _query_of), describe=lambda: list(left))
    born = {dict(each)["__name__"] for each in prometheus.counters() - before}
    assert born == {"coordinator_request_errors_total"}


def test_each_job_has_a_line_of_its_own(prometheus: Prometheus) -> None:
    """Prometheus has a label ``job`` of its own, and calls one of ours ``exported_job``."""
    [query] = [each.query for each in targets() if "coordinator_job_runs_total" in each.names]

    found = {(each["metric"]["job_name"], each["metric"]["outcome"]) for each in prometheus.ask(query)}

    assert found == {(job, outcome) for job in JOBS for outcome in Outcome}
    assert prometheus.ask('{exported_job!=""}') == prometheus.ask('{exported_instance!=""}') == []


def test_no_alert_fires_of_a_server_in_order(prometheus: Prometheus) -> None:
    """And all rules are evaluated."""
    eventually(lambda: not prometheus.unhealthy_rules())

    assert prometheus.ask('ALERTS{alertstate="firing"}') == []
