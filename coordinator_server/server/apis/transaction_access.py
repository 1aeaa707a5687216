"""What requests about transactions and producers need."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.server.apis.group_access import READ_GROUP
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, Asked, Need, on_cluster
from coordinator_server.server.guard.parts import NO_MESSAGES, Both, Each, Filtered, Visible
from coordinator_server.topic_names import name_problem
from protocol.acl_codes import CLUSTER_NAME, Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.first_versions import PARTITIONS_OF_BROKERS

ID: Final = attrgetter("transactional_id")
WRITE_TRANSACTION: Final = Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, ID)

WRITES_TRANSACTION: Final[ApiAccess[Any]] = ApiAccess((WRITE_TRANSACTION,))
ADD_OFFSETS: Final[ApiAccess[Any]] = ApiAccess((WRITE_TRANSACTION, READ_GROUP))


class _Conditional(NamedTuple):
    """Needs that depend on what the request has. ``denial`` returns the error of one that is not met, which it reports, or None."""

    denial: Callable[[Asked, Any], ErrorCode | None]

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False: ``divide`` finds the needs."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Refuse the request if a need is not met."""
        yield from ()
        error = self.denial(asked, request)
        if error is None:
            return request
        reply.fail(error, MESSAGES[error])
        return None


def _new_producer_denial(asked: Asked, request: Any) -> ErrorCode | None:
    """A transactional id needs rights of its own; an idempotent producer needs the right to write at all."""
    if request.transactional_id is not None:
        operations = [Operation.WRITE, *([Operation.TWO_PHASE_COMMIT] if request.enable2_pc else [])]
        needs = [Need(operation, ResourceType.TRANSACTIONAL_ID, ID) for operation in operations]
        return next((need.error for need in needs if not need.is_met(asked, request)), None)
    access = asked.access
    if access.allows(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER):
        return None
    if access.allows_any(Operation.WRITE, ResourceType.TOPIC):
        return None
    asked.report(asked.context, Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, (CLUSTER_NAME,))
    return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _added_partitions_denial(asked: Asked, request: Any) -> ErrorCode | None:
    """Brokers have a form of their own. The handler checks the topics of a client's request: one that is denied refuses all."""
    if asked.context.api_version >= PARTITIONS_OF_BROKERS:
        need = on_cluster(Operation.CLUSTER_ACTION)
    else:
        need = Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, attrgetter("v3_and_below_transactional_id"))
    return None if need.is_met(asked, request) else need.error


def _markers_denial(asked: Asked, request: Any) -> ErrorCode | None:
    """Administrators end transactions that hang; brokers send markers."""
    if asked.access.allows(Operation.ALTER, ResourceType.CLUSTER):
        return None
    need = on_cluster(Operation.CLUSTER_ACTION)
    return None if need.is_met(asked, request) else need.error


def _with_visible_topics(asked: Asked, request: Any, response: Any) -> Any:
    verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
    return replace(
        response,
        transaction_states=[
            replace(state, topics=[topic for topic in state.topics if verdicts[topic.topic]])
            for state in response.transaction_states
        ],
    )


INIT_PRODUCER_ID: Final[ApiAccess[Any]] = ApiAccess(parts=_Conditional(_new_producer_denial))
ADD_PARTITIONS: Final[ApiAccess[Any]] = ApiAccess(
    parts=_Conditional(_added_partitions_denial), in_handler=((Operation.WRITE, ResourceType.TOPIC),)
)
WRITE_MARKERS: Final[ApiAccess[Any]] = ApiAccess(parts=_Conditional(_markers_denial))
DESCRIBE_TRANSACTIONS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Both(
        Each(
            "transactional_ids",
            Operation.DESCRIBE,
            ResourceType.TRANSACTIONAL_ID,
            lambda _, transactional_id: transactional_id,
            "transaction_states",
            NO_MESSAGES,
        ),
        Filtered(_with_visible_topics),
    )
)
LIST_TRANSACTIONS: Final[ApiAccess[Any]] = ApiAccess(parts=Visible("transaction_states", ResourceType.TRANSACTIONAL_ID, ID))
DESCRIBE_PRODUCERS: Final[ApiAccess[Any]] = ApiAccess(
    parts=Each(
        "topics",
        Operation.READ,
        ResourceType.TOPIC,
        lambda _, topic: None if name_problem(topic.name) else topic.name,
        "topics",
    )
)
