"""DescribeConfigs (32): settings, the sources of their values, and the precedence of sources (``ConfigHelper``)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from coordinator_server.catalog.settings import Setting, Settings, parse, text_of
from protocol.messages.create_topics import CreatableTopicConfigs
from protocol.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym


class ConfigSource(IntEnum):
    """Kafka's ``ConfigSource``."""

    TOPIC = 1
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    GROUP = 8


# A setting that Kafka stores for the whole cluster since KIP-966 (eligible leader replicas).
_OF_THE_CLUSTER: Final = "min.insync.replicas"


def described(
    settings: Settings, own: Mapping[str, str], own_source: ConfigSource, broker: Mapping[str, str]
) -> list[DescribeConfigsResourceResult]:
    """Return all settings of a resource whose own settings are ``own``.

    ``broker`` has the properties of this server that are synonyms of settings.
    """
    return [_described(setting, own, own_source, broker) for setting in settings.values()]


def _described(
    setting: Setting, own: Mapping[str, str], own_source: ConfigSource, broker: Mapping[str, str]
) -> DescribeConfigsResourceResult:
    synonyms = []
    if setting.name in own:
        synonyms.append(DescribeConfigsSynonym(setting.name, text_of(parse(setting, own[setting.name])), own_source))
    if setting.synonym is not None:
        default = text_of(parse(setting, setting.default))
        present = broker.get(setting.synonym, default)
        if setting.name == _OF_THE_CLUSTER:
            synonyms.append(DescribeConfigsSynonym(setting.synonym, default, ConfigSource.DYNAMIC_DEFAULT_BROKER))
        elif present != default:
            synonyms.append(DescribeConfigsSynonym(setting.synonym, present, ConfigSource.STATIC_BROKER))
        synonyms.append(DescribeConfigsSynonym(setting.synonym, default, ConfigSource.DEFAULT))
    value, source = (synonyms[0].value, synonyms[0].source) if synonyms else (setting.default, ConfigSource.DEFAULT)
    return DescribeConfigsResourceResult(
        setting.name, value, config_source=source, synonyms=synonyms, config_type=setting.type, documentation=None
    )


def of_new_topic(described: list[DescribeConfigsResourceResult]) -> list[CreatableTopicConfigs]:
    """Return the settings in the form of a CreateTopics answer."""
    return [CreatableTopicConfigs(each.name, each.value, each.read_only, each.config_source) for each in described]
