"""The settings of one group: its own where it has some, otherwise the server's properties (Kafka's ``GroupConfigManager``).

A group's own settings were within the server's bounds when they were set. The bounds may have changed since: a value outside of
them counts as the nearest bound, and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, bounds_of_groups
from coordinator_server.catalog.settings import parse
from coordinator_server.config import Config
from coordinator_server.machine.shard import Report, report_nothing

OF_ALL: Final = ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms")
OF_GROUPS: Final = {
    "consumer": OF_ALL,
    "share": (*OF_ALL, "record_lock_duration_ms"),
    "streams": (*OF_ALL, "num_standby_replicas", "initial_rebalance_delay_ms"),
}
"""The fields of the settings of each type that a group may set: ``consumer.session.timeout.ms``, and so on."""


class ConsumerSettings(Struct, frozen=True, gc=False):
    """The settings of a consumer group (KIP-848; the assignment interval is KIP-1263's).

    A group cannot have its own ``max_size`` and ``regex_refresh_interval_ms``.
    """

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    max_size: int
    regex_refresh_interval_ms: int


class ShareSettings(Struct, frozen=True, gc=False):
    """The settings of a share group (KIP-932)."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    record_lock_duration_ms: int


class StreamsSettings(Struct, frozen=True, gc=False):
    """The settings of a streams group (KIP-1071)."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    num_standby_replicas: int
    initial_rebalance_delay_ms: int


class GroupSettings(Struct, frozen=True, gc=False):
    """The settings of a group, for each type that it may have."""

    consumer: ConsumerSettings
    share: ShareSettings
    streams: StreamsSettings


SettingsOf = Callable[[str], GroupSettings]
"""Returns the settings of a group id. Raises CoordinatorError while the catalog loads."""


def _none(_group_id: str) -> Mapping[str, str]:
    return {}


class SettingsOfGroups:
    """Returns the settings of groups. ``own`` returns the texts of a group's own settings: the same object until one changes."""

    def __init__(self, config: Config, own: Callable[[str], Mapping[str, str]] = _none, report: Report = report_nothing) -> None:
        self._own = own
        self._report = report
        self._bounds = bounds_of_groups(config)
        self._defaults = settings_of_server(config)
        # By group id: at most group.configs.max groups have settings of their own.
        self._known: dict[str, tuple[Mapping[str, str], GroupSettings]] = {}

    def __call__(self, group_id: str) -> GroupSettings:
        own = self._own(group_id)
        if not own:
            if self._known:
                self._known.pop(group_id, None)
            return self._defaults
        known = self._known.get(group_id)
        if known is not None and known[0] is own:
            return known[1]
        defaults = self._defaults
        found = GroupSettings(
            replace(defaults.consumer, **self._values(group_id, "consumer", own, defaults.consumer)),
            replace(defaults.share, **self._values(group_id, "share", own, defaults.share)),
            replace(defaults.streams, **self._values(group_id, "streams", own, defaults.streams)),
        )
        self._known[group_id] = (own, found)
        return found

    def _values(
        self, group_id: str, kind: str, own: Mapping[str, str], defaults: ConsumerSettings | ShareSettings | StreamsSettings
    ) -> dict[str, int]:
        names = {field: f"{kind}.{field.replace('_', '.')}" for field in OF_GROUPS[kind]}
        return {field: self._number(group_id, name, own, getattr(defaults, field)) for field, name in names.items()}

    def _number(self, group_id: str, name: str, own: Mapping[str, str], default: int) -> int:
        if name not in own:
            return default
        value = parse(GROUP_SETTINGS[name], own[name])
        assert isinstance(value, int)
        least, most = self._bounds.get(name, (value, value))
        bounded = min(max(value, least), most)
        if bounded != value:
            self._report("group-setting-out-of-bounds", group_id=group_id, setting=name, value=value, used=bounded)
        return bounded


def settings_of_server(config: Config) -> GroupSettings:
    """Return the settings of a group without settings of its own."""
    return GroupSettings(
        ConsumerSettings(
            config.consumer.group_consumer_session_timeout_ms,
            config.consumer.group_consumer_heartbeat_interval_ms,
            config.consumer.group_consumer_assignment_interval_ms,
            config.consumer.group_consumer_max_size,
            config.consumer.group_consumer_regex_refresh_interval_ms,
        ),
        ShareSettings(
            config.share.group_share_session_timeout_ms,
            config.share.group_share_heartbeat_interval_ms,
            config.share.group_share_assignment_interval_ms,
            config.share.group_share_record_lock_duration_ms,
        ),
        StreamsSettings(
            config.streams.group_streams_session_timeout_ms,
            config.streams.group_streams_heartbeat_interval_ms,
            config.streams.group_streams_assignment_interval_ms,
            config.streams.group_streams_num_standby_replicas,
            config.streams.group_streams_initial_rebalance_delay_ms,
        ),
    )
