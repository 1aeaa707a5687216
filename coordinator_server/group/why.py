"""Why records of groups and their offsets were written."""

from __future__ import annotations

from enum import StrEnum


class Why(StrEnum):
    """Reasons, under names that stay: they are in logs. A reader has to expect others."""

    GROUP_CREATED = "group-created"  # somebody asked to join a group that there was not
    MEMBER_JOINED = "member-joined"
    MEMBER_REJOINED = "member-rejoined"  # with other protocols or metadata, or a leader that asks for a rebalance
    STATIC_MEMBER_RETURNED = "static-member-returned"  # under a new member id, which is told
    MEMBER_LEFT = "member-left"
    SESSION_TIMEOUT = "session-timeout"
    JOIN_TIMEOUT = "join-timeout"  # it did not join again while the others did
    SYNC_TIMEOUT = "sync-timeout"  # it joined, and never asked for its assignment
    ASSIGNMENTS_NOT_STORED = "assignments-not-stored"
    GROUP_OVER_MAX_SIZE = "group-over-max-size"
    GROUP_DELETED = "group-deleted"  # by DeleteGroups
    OFFSETS_DELETED = "offsets-deleted"  # by OffsetDelete
    OFFSETS_EXPIRED = "offsets-expired"  # with the group where those were its last
    OFFSETS_RESTORED = "offsets-restored"  # to those of a moment, which is told as what was said
    TOPIC_DELETED = "topic-deleted"  # what was committed for it goes, too; the topics are told as what was said
