"""Prints docs/metrics.md: ``python -m coordinator_server.ops.metrics.page``. ``make generate`` runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from coordinator_server.ops.metrics.families import Family, families

_INTRODUCTION: Final = """\
# Metrics and health

    coordinator-server serve --data-dir ./data --override metrics.listener=127.0.0.1:9404

answers HTTP requests at that address, in a process of its own that asks `control.sock`:

| path | answer |
|---|---|
| `/metrics` | all loops in one scrape, for Prometheus (text format or OpenMetrics) |
| `/livez` | 200 while the server lives: it has answered within the last minute, or is starting |
| `/readyz` | 200 if every loop serves. 503 with the reasons: shards that load, a loop that is started again or does not answer, a log that refuses records, a node of several without a lease or without its part of the shards |

The body of a check is JSON: `{"ok": false, "why": ["loop 1: is being started"], "loops": […]}`.
Nothing is encrypted and everybody who reaches the address can read it: ids of groups are in
`coordinator_group_commit_age_seconds` (`metrics.commit.age.groups.max=0` leaves them out).

A metric of a loop has the label `loop`. Of a loop that does not answer within two seconds only
`coordinator_loop_up` is there. Counters begin with the loop's process, at 0: Prometheus sees no increase in
a series that begins with 1. Two kinds begin later: errors other than UNKNOWN_SERVER_ERROR with the first
one, times of requests with the first request of their API. What happens before the first scrape of a
process is in no rate. `deploy/` has a dashboard for Grafana and alert rules; tests run every query of them.

## Lag exporters

Topics have no records here, so there is no lag, and this server has no metric of one. Exporters that ask a
Kafka cluster compute one: the end of a partition, which is 0, less the committed offset. `kafka-consumer-groups.sh`
and what subtracts as it does show `-1795485171` for a committed offset of 1795485171; KMinion makes that 0. No other
answer helps ([decision 21](decisions/topics.md#21-treat-every-position-as-the-end-of-a-virtual-partition)). Leave the topics out
(`--topic.exclude='.*'` of kafka_exporter), or drop the series where Prometheus scrapes the exporter:

```yaml
    metric_relabel_configs:
      - source_labels: [__name__]
        regex: kafka_consumergroup_lag.*|kminion_kafka_consumer_group_topic.*_lag
        action: drop
```

The lag of a Kafka cluster that [`observe`](observe.md#metrics) follows has metrics of its own.

How long ago a group has committed is `coordinator_group_commit_age_seconds`, which takes the place of lag in
alerts.

## Metrics

This page is made of `coordinator_server/ops/metrics/families.py`; `make generate` writes it. The
last column is what Kafka calls the same or the nearest thing.

| metric | kind | labels | meaning | JMX in Kafka |
|---|---|---|---|---|
"""  # noqa: E501 - a row of a Markdown table is one line


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield _INTRODUCTION
    for family in sorted(families(), key=lambda each: each.name):
        yield _row(family)


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in (["loop"] if family.is_of_loop else []) + list(family.labels))
    jmx = ", ".join(f"`{name}`" for name in family.jmx.split("; ") if name)
    return f"| `{family.name}` | {family.kind.value} | {labels} | {family.help} | {jmx} |\n"


if __name__ == "__main__":
    sys.stdout.writelines(page())
