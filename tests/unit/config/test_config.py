"""Properties: Kafka's names, checked values, errors that say what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.config import MAX_LOOPS
from coordinator_server.config.load import load, parse_overrides
from coordinator_server.config.oauthbearer import OAuthBearerConfig
from coordinator_server.config.properties import property_names
from coordinator_server.config.values import (
    connection_overrides,
    consumer_assignors,
    declared_topics,
    local_page_address,
    loop_count,
    metrics_address,
    migration_policy,
    page_address,
    unknown_user_iterations,
    with_loops,
)
from coordinator_server.kinds import KINDS, partition_counts
from coordinator_server.security.sasl.mechanisms import SETTINGS
from coordinator_server.security.tls_settings import TlsSettings
from tests.support.configs import config_with
from tests.support.server import ROOT


def test_properties_have_kafkas_names() -> None:
    config = load({"group.initial.rebalance.delay.ms": "0", "auto.create.topics.enable": "false"})

    assert config.live.group_initial_rebalance_delay_ms == 0
    assert config.live.auto_create_topics_enable is False
    assert config.live.group_max_session_timeout_ms == Config().live.group_max_session_timeout_ms


def test_an_unknown_property_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match=r"unknown property num.partition; did you mean num.partitions\?"):
        load({"num.partition": "1"})


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("num.partitions", "many", "a whole number of partitions from 1 to 2147483647"),
        ("num.partitions", "0", "a whole number of partitions from 1 to 2147483647"),
        ("log.roll.ms", "0", "a whole number of milliseconds, at least 1"),
        ("node.id", "-1", "a whole number, at least 0"),
        ("loops", "65", "a whole number of loops from 1 to 64, or auto"),
        ("log.cleaner.min.cleanable.ratio", "half", "a number from 0 to 1"),
        ("delete.topic.enable", "yes", "true or false"),
        ("log.flush", "never", "always or os"),
    ],
)
def test_an_unusable_value_is_refused_with_what_the_property_accepts(name: str, value: str, accepted: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load({name: value})

    assert str(refused.value) == f"{name} takes {accepted}, not {value!r}"


@pytest.mark.parametrize(
    ("name", "value"),
    [("topics", "orders:x"), ("loops", "51"), ("advertised.listeners", "host"), ("max.connections.per.ip.overrides", "a")],
)
def test_what_a_text_says_is_checked_when_it_is_loaded(name: str, value: str) -> None:
    """And not when it is used, which may be much later."""
    with pytest.raises(ConfigError, match=f"{name}={value}: "):
        load({name: value})


def test_the_last_override_of_a_name_wins() -> None:
    assert parse_overrides(["num.partitions=1", "num.partitions = 2"]) == {"num.partitions": "2"}


@pytest.mark.parametrize("override", ["num.partitions", "=1", ""])
def test_an_override_is_name_equals_value(override: str) -> None:
    with pytest.raises(ConfigError, match="takes name=value"):
        parse_overrides([override])


def test_topics_are_declared_with_or_without_a_partition_count() -> None:
    assert declared_topics(config_with(topics="orders:6, payments")) == {"orders": 6, "payments": None}
    assert declared_topics(Config()) == {}


@pytest.mark.parametrize(("text", "names"), [("range", ["range"]), ("range, uniform", ["range", "uniform"])])
def test_assignors_are_names_in_an_order(text: str, names: list[str]) -> None:
    assert consumer_assignors(load({"group.consumer.assignors": text})) == names


def test_by_default_the_assignors_are_kafkas() -> None:
    assert consumer_assignors(Config()) == ["uniform", "range"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'' is not one of uniform, range"),
        ("range,", "'' is not one of uniform, range"),
        ("sticky", "'sticky' is not one of uniform, range"),
        ("range,range", "range is named twice"),
    ],
)
def test_other_assignors_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"group.consumer.assignors={text}: {problem}")):
        load({"group.consumer.assignors": text})


@pytest.mark.parametrize("text", ["upgrade", "Upgrade", "UPGRADE"])
def test_a_migration_policy_is_read_in_any_case(text: str) -> None:
    """As in Kafka."""
    assert load({"group.consumer.migration.policy": text}).consumer.group_consumer_migration_policy == "upgrade"


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [("bidirectional", (True, True)), ("upgrade", (True, False)), ("downgrade", (False, True)), ("disabled", (False, False))],
)
def test_a_migration_policy_allows_upgrades_and_downgrades(policy: str, allowed: tuple[bool, bool]) -> None:
    assert migration_policy(load({"group.consumer.migration.policy": policy})) == allowed


@pytest.mark.parametrize("topics", ["orders:x", ":3", "orders:0", "orders:-1", "orders:", "orders:2147483648"])
def test_a_malformed_declaration_of_topics_is_refused(topics: str) -> None:
    with pytest.raises(ConfigError, match="is not name or name:partitions"):
        declared_topics(config_with(topics=topics))


@pytest.mark.parametrize(
    ("topics", "why"),
    [
        ("orders:6,orders:7", "orders is named twice"),
        ("orders,orders", "orders is named twice"),
        ("or ders:6", "'or ders' has characters other than"),
        ("..:6", "cannot be a topic's name"),
        ("o" * 250, "at most 249 characters"),
        ("__consumer_offsets:50", "this server's own log"),
    ],
)
def test_a_topic_that_cannot_be_is_refused_with_the_properties(topics: str, why: str) -> None:
    """Not by a start, which systemd would try for ever."""
    with pytest.raises(ConfigError, match=re.escape(why)):
        load({"topics": topics})


def test_auto_is_a_loop_per_core_as_long_as_there_are_shards() -> None:
    """And a number is that number."""
    assert loop_count(load({"loops": "auto"}), cores=6) == 6
    assert loop_count(load({"loops": "auto", "offsets.topic.num.partitions": "3"}), cores=6) == 3
    assert loop_count(load({"loops": "auto", "offsets.topic.num.partitions": "100"}), cores=1000) == MAX_LOOPS
    assert with_loops(load({"loops": "2"}), cores=6).loops == 2
    assert loop_count(load({"loops": "auto"})) == 1


def test_every_kind_has_a_partition_count() -> None:
    """From the property that its row names, or the row's own number."""
    config = load({"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "4"})

    found = partition_counts(config.log)

    assert found.keys() == KINDS.keys()
    assert (found["__consumer_offsets"], found["__transaction_state"], found["__share_group_state"]) == (3, 4, 50)
    assert {topic: found[topic] for topic, kind in KINDS.items() if kind.partitions == found[topic]} == {
        topic: kind.partitions for topic, kind in KINDS.items() if isinstance(kind.partitions, int)
    }


def test_a_loop_too_many_is_named_with_the_property_that_bounds_it() -> None:
    """Kinds that may never be used do not count."""
    with pytest.raises(ConfigError, match=r"loops=2: offsets.topic.num.partitions=1 has fewer shards than loops"):
        load({"loops": "2", "offsets.topic.num.partitions": "1"})


def test_every_property_is_read() -> None:
    """By code that has the configuration under that name, by the table of kinds, or for a listener."""
    sources = (ROOT / "coordinator_server").rglob("*.py")
    read = {name for source in sources for name in read_from_config(ast.parse(source.read_text()))}
    of_kinds = {kind.partitions.replace(".", "_") for kind in KINDS.values() if isinstance(kind.partitions, str)}

    of_listeners = (
        set(OAuthBearerConfig.__struct_fields__)
        | {f"ssl_{name}" for name in TlsSettings._fields}
        | {name.replace(".", "_") for name in SETTINGS}
    )
    assert {name.replace(".", "_") for name in property_names()} - read - of_kinds - of_listeners == set()


def read_from_config(tree: ast.AST) -> Iterator[str]:
    """The ``x`` of every ``config.x``, ``self._config.x``, ``node.config.x``, and of every ``config.part.x``."""
    for found in ast.walk(tree):
        match found:
            case ast.Attribute(ast.Attribute(ast.Name(owner) | ast.Attribute(attr=owner)), name) if owner in (
                "config",
                "_config",
            ):
                yield name
            case ast.Attribute(ast.Name(owner) | ast.Attribute(attr=owner), name) if owner in ("config", "_config"):
                yield name


@pytest.mark.parametrize(
    ("text", "address"),
    [("", None), ("127.0.0.1:9404", ("127.0.0.1", 9404)), ("[::1]:0", ("::1", 0)), ("0.0.0.0:65535", ("0.0.0.0", 65535))],
)
def test_metrics_have_an_address_or_none(text: str, address: tuple[str, int] | None) -> None:
    assert metrics_address(load({"metrics.listener": text})) == address


@pytest.mark.parametrize("text", ["9404", ":9404", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536"])
def test_other_addresses_of_metrics_are_refused(text: str) -> None:
    """Every address of the machine is named: whoever reaches it reads ids of groups."""
    with pytest.raises(ConfigError, match=re.escape(f"metrics.listener={text}: not HOST:PORT")):
        load({"metrics.listener": text})


@pytest.mark.parametrize(
    ("text", "address"),
    [("", None), ("127.0.0.1:9405", ("127.0.0.1", 9405)), ("[::1]:0", ("::1", 0)), ("localhost:1", ("localhost", 1))],
)
def test_a_page_has_an_address_of_this_machine_or_none(text: str, address: tuple[str, int] | None) -> None:
    assert page_address(load({"page.listener": text})) == address


@pytest.mark.parametrize("text", ["0.0.0.0:9405", "[::]:9405", "10.0.0.7:9405", "127.evil.example:9405", "host:9405"])
def test_a_page_that_others_could_reach_needs_tls_names_and_a_login(text: str) -> None:
    """All that lacks is named. The page of a directory has no login, and is refused."""
    has = {
        "ssl.keystore.location": "/server.pem",
        "listeners": "SASL_SSL://127.0.0.1:9093",
        "page.allowed.hosts": "page.example",
    }

    with pytest.raises(
        ConfigError, match=r"so it needs ssl\.keystore\.location; and a listener with SASL, .* and page\.allowed\.hosts"
    ):
        load({"page.listener": text})
    for name in has:
        with pytest.raises(ConfigError, match=re.escape(f"page.listener={text}: other machines reach it")):
            load({"page.listener": text} | {each: value for each, value in has.items() if each != name})
    assert page_address(load({"page.listener": text} | has)) is not None
    with pytest.raises(ConfigError, match=re.escape(f"--listen={text}: this page has no login")):
        local_page_address("--listen", text)


def test_iterations_of_unknown_users_are_numbers_that_scram_takes() -> None:
    """A number that is given twice is twice as frequent. Blanks do not count."""
    assert unknown_user_iterations(load({"scram.unknown.user.iterations": "4096, 16384,4096"})) == (4096, 16384, 4096)


@pytest.mark.parametrize("text", ["", "4095", "16385", "4096,", "4096,x", "4096;8192", "-4096"])
def test_other_iterations_of_unknown_users_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"scram.unknown.user.iterations={text}: not numbers from 4096 to 16384")):
        load({"scram.unknown.user.iterations": text})


def test_limits_of_hosts_are_numbers() -> None:
    """Blanks and empty items do not count; a host may have colons."""
    text = " a:5 ,, ::1:0,[::2]:2147483647"

    assert connection_overrides(config_with(max_connections_per_ip_overrides=text)) == {"a": 5, "::1": 0, "[::2]": 2**31 - 1}
    assert connection_overrides(Config()) == {}


@pytest.mark.parametrize("item", ["a", "a:", ":5", "a:x", "a:-1", f"a:{2**31}"])
def test_other_limits_of_hosts_are_refused(item: str) -> None:
    with pytest.raises(ConfigError, match="is not host:limit"):
        connection_overrides(config_with(max_connections_per_ip_overrides=f"b:1,{item}"))
