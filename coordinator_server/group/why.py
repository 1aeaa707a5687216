"""The reasons in the provenance of records of groups and their offsets."""

from __future__ import annotations

from enum import StrEnum


class Why(StrEnum):
    """The names of reasons. Existing logs contain them: never change one. Readers must accept unknown names."""

    GROUP_CREATED = "group-created"  # a member tried to join a group that did not exist
    MEMBER_JOINED = "member-joined"
    MEMBER_REJOINED = "member-rejoined"  # with different protocols or metadata, or a leader that requests a rebalance
    STATIC_MEMBER_RETURNED = "static-member-returned"  # under a new member id, which is the subject of the reason
    MEMBER_LEFT = "member-left"
    SESSION_TIMEOUT = "session-timeout"
    JOIN_TIMEOUT = "join-timeout"  # the member did not rejoin during the join phase
    SYNC_TIMEOUT = "sync-timeout"  # the member joined but did not send SyncGroup
    ASSIGNMENTS_NOT_STORED = "assignments-not-stored"
    GROUP_OVER_MAX_SIZE = "group-over-max-size"
    GROUP_DELETED = "group-deleted"  # by DeleteGroups
    OFFSETS_DELETED = "offsets-deleted"  # by OffsetDelete
    OFFSETS_EXPIRED = "offsets-expired"  # and the group, if these were its last
    OFFSETS_ALTERED = "offsets-altered"  # of a share group, by AlterShareGroupOffsets
    OFFSETS_RESTORED = "offsets-restored"  # to those of an earlier time, which is in ``said``
    TOPIC_DELETED = "topic-deleted"  # its committed offsets are deleted; the topics are in ``said``
    STATIC_MEMBER_AWAY = "static-member-away"  # it left for a while, and keeps its partitions (KIP-848)
    SUBSCRIPTION_CHANGED = "subscription-changed"
    TOPICS_CHANGED = "topics-changed"  # partitions of subscribed topics, or the topics that match a regular expression
    SETTINGS_CHANGED = "settings-changed"  # of a streams group: the number of standby replicas
    REVOCATION_TIMEOUT = "revocation-timeout"  # the member did not give up partitions within its rebalance timeout
    ASSIGNMENT_DUE = "assignment-due"  # of an earlier change, which waited for the assignment interval
    PARTITIONS_INITIALIZED = "partitions-initialized"  # share partitions have got a state, or are assigned because they have one
    PARTITIONS_NOT_INITIALIZED = "partitions-not-initialized"  # share partitions could not get one
    RECONCILED = "reconciled"  # the member came nearer to its target assignment
    GROUP_UPGRADED = "group-upgraded"  # to the consumer protocol, because a member of it joined (KIP-848)
    GROUP_DOWNGRADED = "group-downgraded"  # to the classic protocol, because the last member of the consumer protocol left
