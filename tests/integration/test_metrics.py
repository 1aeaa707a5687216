"""Metrics and health over HTTP, of two loops: as Prometheus' own parser reads them, while loops work, die and hang."""

from __future__ import annotations

import json
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from coordinator_server.ops.metrics.families import families
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import coordinator, make_topic, must_commit

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Scraped:
    """A server and the address of its metrics."""

    def __init__(self, directory: Path) -> None:
        self.server = Server(directory, {"metrics.listener": "127.0.0.1:0"}, loops=2)
        self.address = ""

    def find_address(self) -> None:
        """Read the address in the log."""
        [line] = [each for each in map(json.loads, self.server.log().splitlines()) if each["event"] == "metrics-listening"]
        self.address = line["address"].removesuffix("/metrics")

    def get(self, path: str, accept: str = "") -> tuple[int, str, str]:
        """Status, type and body of an answer."""
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.address + path, headers={"Accept": accept}), timeout=30
            ) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers["Content-Type"], refused.read().decode()

    def samples(self) -> Samples:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in plain_text(self.get("/metrics")[2])
            for sample in family.samples
        }

    def total(self, name: str, **labels: str) -> float:
        """The sum over all samples with these labels."""
        return sum(value for (found, of), value in self.samples().items() if found == name and labels.items() <= dict(of).items())


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    scraped = Scraped(tmp_path_factory.mktemp("server"))
    with scraped.server:
        scraped.find_address()
        yield scraped


def test_what_clients_do_is_counted(scraped: Scraped) -> None:
    """Of all loops in one scrape, each with its label; requests, errors, groups, members, the log."""
    with Client(scraped.server.address) as client:
        make_topic(client, "orders", 4)
        answer = client.ask(DeleteTopicsRequest(topics=[DeleteTopicState("none")]), 6, DeleteTopicsResponse)
        assert answer.responses[0].error_code == 3
        groups = [f"g-{number}" for number in range(8)]
        for group in groups:
            with Client(coordinator(client, group)) as home:
                must_commit(home, group, "orders", {0: 5})
    members = form_group(scraped.server.address, "readers", 2)
    members[0].commit("orders", {0: 1})

    assert scraped.total("coordinator_requests_total", api="OffsetCommit") == 9
    assert scraped.total("coordinator_requests_total", api="OffsetCommit", loop="0") in range(1, 9)
    assert scraped.total("coordinator_request_errors_total", api="DeleteTopics", error="UNKNOWN_TOPIC_OR_PARTITION") == 1
    assert scraped.total("coordinator_request_duration_seconds_count", api="JoinGroup") >= 2
    assert scraped.total("coordinator_rebalances_total") >= 1
    assert scraped.total("coordinator_topics") == 1
    assert scraped.total("coordinator_partitions") == 4
    assert scraped.total("coordinator_shards", topic="__consumer_offsets", state="active") == 50
    assert scraped.total("coordinator_submits_total") == scraped.total("coordinator_journal_sync_duration_seconds_count") > 0
    assert scraped.total("coordinator_loop_up") == 2
    eventually(lambda: scraped.total("coordinator_groups", state="Empty") == 8)
    assert scraped.total("coordinator_group_members", type="classic") == 2
    assert scraped.total("coordinator_group_commit_age_seconds", group="readers") < 60
    for member in members:
        member.client.close()


def test_both_forms_are_read_by_their_parsers(scraped: Scraped) -> None:
    """Every metric is one of the table, with its labels."""
    known = {
        each.name.removesuffix("_total"): {"loop", *each.labels} if each.is_of_loop else set(each.labels) for each in families()
    }

    kind, text = scraped.get("/metrics")[1:]
    assert kind.startswith("text/plain")
    found = {family.name.removesuffix("_total"): family for family in plain_text(text)}
    kind, text = scraped.get("/metrics", "application/openmetrics-text; version=1.0.0")[1:]
    assert kind.startswith("application/openmetrics-text")
    assert {family.name for family in open_metrics(text)} == found.keys()

    assert found.keys() <= known.keys()
    for name, family in found.items():
        assert all(sample.labels.keys() - {"le"} == known[name] for sample in family.samples)


def test_checks_say_how_the_server_is(scraped: Scraped) -> None:
    status, kind, body = scraped.get("/readyz")

    assert (status, kind, json.loads(body)["ok"], json.loads(body)["why"]) == (200, "application/json", True, [])
    assert [each["stage"] for each in json.loads(body)["loops"]] == ["serving", "serving"]
    assert scraped.get("/livez")[0] == 200
    assert scraped.get("/nothing")[0] == 404


def test_silent_http_clients_delay_no_others(scraped: Scraped) -> None:
    host, port = scraped.address.removeprefix("http://").split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(5)]

    assert scraped.get("/readyz")[0] == 200

    for each in silent:
        each.close()


def test_health_reports_a_stopped_loop(scraped: Scraped) -> None:
    """The numbers of the others stay there."""
    [_, second] = scraped.server.loop_pids()
    os.kill(second, signal.SIGSTOP)
    try:
        status, _, body = scraped.get("/readyz")
        assert (status, json.loads(body)["why"]) == (503, ["loop 1: does not answer"])
        samples = scraped.samples()
    finally:
        os.kill(second, signal.SIGCONT)

    assert samples["coordinator_loop_up", frozenset({("loop", "1")})] == 0
    assert samples["coordinator_loop_up", frozenset({("loop", "0")})] == 1
    assert any(name == "coordinator_requests_total" and ("loop", "0") in labels for name, labels in samples)
    eventually(lambda: scraped.get("/readyz")[0] == 200)


def test_a_loop_that_dies_is_started_again(scraped: Scraped) -> None:
    [_, second] = scraped.server.loop_pids()

    os.kill(second, signal.SIGKILL)

    eventually(lambda: scraped.total("coordinator_loop_starts_total", loop="1") == 2)
    eventually(lambda: scraped.get("/readyz")[0] == 200)


def test_the_process_is_started_again_if_it_ends(scraped: Scraped) -> None:
    """The address stays open: who connects waits for it."""
    children = Path(f"/proc/{scraped.server.pid}/task/{scraped.server.pid}/children").read_text().split()
    [process] = [int(each) for each in children if b"metrics" in Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")]

    os.kill(process, signal.SIGKILL)

    assert scraped.get("/livez")[0] == 200
    assert "metrics-died" in scraped.server.log()


def test_an_address_that_is_taken_ends_the_start(scraped: Scraped, tmp_path: Path) -> None:
    address = scraped.address.removeprefix("http://")
    other = Server(tmp_path, {"metrics.listener": address})

    ended = other.run_to_end()

    assert ended.returncode == 1
    assert f"metrics.listener: cannot listen on {address}: " in ended.stderr
