"""The task of a child process that computes the target assignment of a large consumer group."""

from __future__ import annotations

from functools import partial
from typing import Final

from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.modern.target_task import ComputedTargets, TargetRequest, compute_targets
from coordinator_server.machine.executor import Task

COMPUTE_TARGETS: Final = Task(
    "coordinator_server.group.consumer.target_task:COMPUTE_TARGETS",
    TargetRequest,
    ComputedTargets,
    partial(compute_targets, ASSIGNORS, RECORDS.target),
)
