"""A Prometheus with the shipped configuration, and the queries of the shipped dashboard."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from coordinator_server.ops.metrics.families import families
from tests.support.ports import free_port
from tests.support.server import Server

DEPLOY = Path(__file__).parents[2] / "deploy"
# What only nodes with a store have.
OF_STORE = {each.name for each in families() if each.is_of_store}


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

    def show_all(self, left: list[Target], query_of: Callable[[Target], str] = lambda each: each.query) -> bool:
        """Take those away that show something, which must have the labels of their legends. Whether none is left."""
        for each in list(left):
            found = self.ask(query_of(each))
            if found:
                assert all(set(re.findall(r"{{(\w+)}}", each.legend)) <= one["metric"].keys() for one in found), each.title
                left.remove(each)
        return not left

    def counters(self) -> set[tuple[tuple[str, str], ...]]:
        """The series that were scraped last."""
        return {tuple(sorted(each["metric"].items())) for each in self.ask('{__name__=~"coordinator_.*_total"}')}

    def unhealthy_rules(self) -> list[str]:
        """The alerts whose rules were not evaluated."""
        return [rule["name"] for group in self._get("rules")["groups"] for rule in group["rules"] if rule["health"] != "ok"]

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


class Target(NamedTuple):
    """A query of the dashboard."""

    title: str
    query: str
    legend: str

    @property
    def names(self) -> set[str]:
        """The metrics that it asks for."""
        return {re.sub(r"_(bucket|sum|count)$", "", each) for each in re.findall(r"coordinator_\w+", self.query)}


def metrics_address(server: Server) -> str:
    """Return where a server answers scrapes."""
    [address] = [line["address"] for line in map(json.loads, server.log().splitlines()) if line["event"] == "metrics-listening"]
    return str(address.removeprefix("http://").removesuffix("/metrics"))


def targets(dashboard: str = "dashboard") -> Iterator[Target]:
    """Each query of a dashboard."""
    for panel in json.loads((DEPLOY / f"grafana/{dashboard}.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            query = re.sub(r"\$(instance|loop|group)", ".*", target["expr"].replace("$__rate_interval", "2s"))
            yield Target(panel["title"], query, target["legendFormat"])
