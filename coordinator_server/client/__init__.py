"""The client side: be a member of a group, with any coordinator that speaks Kafka's protocol.

``Coordinator`` is the group protocol for anybody's own metadata and assignments. ``Election``, ``WorkSharing``, ``Membership`` and
``GroupConsumer`` are built on it. docs/client.md describes the package.
"""

from coordinator_server.client.consumer.assignors import Assignor, RangeAssignor, RoundRobinAssignor
from coordinator_server.client.consumer.group_consumer import GroupConsumer
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor
from coordinator_server.client.consumer.subscription import Subscription
from coordinator_server.client.coordinator import Coordinator
from coordinator_server.client.election import Election
from coordinator_server.client.environment import Environment
from coordinator_server.client.errors import (
    AuthenticationFailed,
    ClientError,
    Closed,
    ConnectionFailed,
    FencedInstance,
    InvalidSettings,
    MembershipLost,
    RebalanceInProgress,
    Refused,
    RetriableError,
    TimedOut,
    Unavailable,
    UnsupportedVersion,
)
from coordinator_server.client.generation import NO_GENERATION, Generation, GroupMember
from coordinator_server.client.membership import Membership, Present
from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.client.settings import ConnectionSettings, ElectionSettings, GroupSettings, OAuthBearer, Sasl, TokenSource
from coordinator_server.client.term import Term
from coordinator_server.client.tokens import ClientCredentials, TokenFile
from coordinator_server.client.work_sharing import Checkpoint, Share, WorkSharing

__all__ = [
    "NO_GENERATION",
    "Assignor",
    "AuthenticationFailed",
    "Checkpoint",
    "ClientCredentials",
    "ClientError",
    "Closed",
    "Committed",
    "ConnectionFailed",
    "ConnectionSettings",
    "CooperativeStickyAssignor",
    "Coordinator",
    "Election",
    "ElectionSettings",
    "Environment",
    "FencedInstance",
    "Generation",
    "GroupConsumer",
    "GroupMember",
    "GroupSettings",
    "InvalidSettings",
    "Membership",
    "MembershipLost",
    "OAuthBearer",
    "Present",
    "RangeAssignor",
    "RebalanceInProgress",
    "Refused",
    "RetriableError",
    "RoundRobinAssignor",
    "Sasl",
    "Share",
    "Subscription",
    "Term",
    "TimedOut",
    "TokenFile",
    "TokenSource",
    "TopicPartition",
    "Unavailable",
    "UnsupportedVersion",
    "WorkSharing",
]
