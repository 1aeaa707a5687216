"""AlterClientQuotas and DescribeClientQuotas: what a quota may be of, its values, and the filters."""

from __future__ import annotations

import math

import pytest

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.catalog.describe_quotas import described, quota_filter
from coordinator_server.catalog.quota_names import Match
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from tests.support.catalog import Catalog
from tests.support.configs import config_with

Named = dict[str, str | None]
REQUESTS = "request_percentage"


def entry(entity: Named, *ops: OpData) -> RequestEntryData:
    return RequestEntryData([EntityData(*each) for each in entity.items()], list(ops))


def alter(catalog: Catalog, *entries: RequestEntryData, validate_only: bool = False) -> list[tuple[int, str | None]]:
    request = AlterClientQuotasRequest(list(entries), validate_only)
    answer = catalog.run(CatalogShard.alter_client_quotas, request, AlterClientQuotasResponse)
    return [(each.error_code, each.error_message) for each in answer.entries]


def describe(catalog: Catalog, *components: ComponentData, strict: bool = False) -> list[tuple[Named, dict[str, float]]]:
    wanted = quota_filter(DescribeClientQuotasRequest(list(components), strict))
    answer = described(catalog.shard.records(LATEST, CLIENT_QUOTAS), wanted)
    assert answer.entries is not None
    return [
        ({each.entity_type: each.entity_name for each in found.entity}, {each.key: each.value for each in found.values})
        for found in answer.entries
    ]


def test_quotas_are_set_changed_and_removed() -> None:
    catalog = Catalog()
    assert alter(catalog, entry({"user": "ann"}, OpData(REQUESTS, 20.0), OpData("producer_byte_rate", 1024.0))) == [(0, None)]
    alter(catalog, entry({"user": "ann"}, OpData(REQUESTS, 30.0), OpData("producer_byte_rate", remove=True)))
    alter(catalog, entry({"client-id": None}, OpData(REQUESTS, 5.0)))

    assert describe(catalog) == [({"client-id": None}, {REQUESTS: 5.0}), ({"user": "ann"}, {REQUESTS: 30.0})]


def test_a_quota_that_stays_the_same_writes_no_record() -> None:
    catalog = Catalog()
    alter(catalog, entry({"user": "ann"}, OpData(REQUESTS, 20.0)))
    written = len(catalog.records)
    alter(catalog, entry({"user": "ann"}, OpData(REQUESTS, 20.0), OpData("consumer_byte_rate", remove=True)))
    alter(catalog, entry({"user": "bob"}, OpData(REQUESTS, 20.0)), validate_only=True)

    assert len(catalog.records) == written


@pytest.mark.parametrize(
    ("entity", "op", "message"),
    [
        ({}, OpData(REQUESTS, 1.0), "Invalid empty client quota entity"),
        ({"team": "a"}, OpData(REQUESTS, 1.0), "Unhandled client quota entity type: team"),
        ({"user": ""}, OpData(REQUESTS, 1.0), "Empty user not supported"),
        ({"ip": "192.0.2.1", "user": "ann"}, OpData("connection_creation_rate", 1.0), "Invalid quota entity combination"),
        ({"ip": "host.example"}, OpData("connection_creation_rate", 1.0), "host.example is not a valid IP or resolvable host."),
        ({"ip": "192.0.2.1"}, OpData(REQUESTS, 1.0), f"Invalid configuration key {REQUESTS}"),
        ({"user": "ann"}, OpData("connection_creation_rate", 1.0), "Invalid configuration key connection_creation_rate"),
        ({"user": "ann"}, OpData(REQUESTS, 0.0), f"Quota {REQUESTS} must be greater than 0"),
        ({"user": "ann"}, OpData(REQUESTS, math.nan), f"Quota {REQUESTS} must be greater than 0"),
        ({"ip": None}, OpData("connection_creation_rate", 2.0**31), "too large for an INT."),
        ({"user": "ann"}, OpData("producer_byte_rate", 2.0**64), "too large for a LONG."),
        ({"user": "ann"}, OpData("producer_byte_rate", 1.5), "producer_byte_rate cannot be a fractional value."),
    ],
)
def test_alterations_of_quotas_that_are_refused(entity: Named, op: OpData, message: str) -> None:
    catalog = Catalog()
    [(error, said)] = alter(catalog, entry(entity, op))

    assert error == ErrorCode.INVALID_REQUEST
    assert message in (said or "")
    assert not catalog.records


@pytest.mark.parametrize("entity", [{"ip": "192.0.2.1"}, {"ip": "::1"}, {"ip": None}])
def test_addresses_have_a_rate_of_connections(entity: Named) -> None:
    assert alter(Catalog(), entry(entity, OpData("connection_creation_rate", 2.0**31 - 1))) == [(0, None)]


def test_an_entity_that_is_named_twice_is_refused_and_its_first_change_counts() -> None:
    """As in Kafka. A name that is given twice in one entity counts once: the last one."""
    catalog = Catalog()
    twice = [entry({"user": "ann"}, OpData(REQUESTS, 1.0)), entry({"user": "ann"}, OpData(REQUESTS, 2.0))]
    refused = (ErrorCode.INVALID_REQUEST, "Ignoring duplicate entity ClientQuotaEntity(entries={user=ann})")

    assert alter(catalog, *twice) == [refused]
    assert describe(catalog) == [({"user": "ann"}, {REQUESTS: 1.0})]
    both = entry({"user": None, "client-id": "c"}, OpData(REQUESTS, 1.0), OpData(REQUESTS, 2.0))
    [(_, said)] = alter(catalog, both)
    assert said == "Ignoring duplicate entity ClientQuotaEntity(entries={client-id=c, user=null})"
    assert alter(catalog, RequestEntryData([EntityData("user", "x"), EntityData("user", "bob")], [OpData(REQUESTS, 3.0)])) == [
        (0, None)
    ]
    assert ({"user": "bob"}, {REQUESTS: 3.0}) in describe(catalog)


def test_the_number_of_quotas_is_limited() -> None:
    """A removal makes room, also in the same request; an entity gets all its quotas or none."""
    catalog = Catalog(config_with(client_quotas_max=2))
    one, two = OpData(REQUESTS, 1.0), OpData("consumer_byte_rate", 1.0)

    codes = [code for code, _ in alter(catalog, entry({"user": "a"}, one), entry({"user": "b"}, one, two))]
    assert codes == [0, ErrorCode.POLICY_VIOLATION]
    assert catalog.reports == ["client-quotas-full"]
    gone = entry({"user": "a"}, OpData(REQUESTS, remove=True))
    assert [code for code, _ in alter(catalog, gone, entry({"user": "b"}, one, two))] == [0, 0]
    assert [code for code, _ in alter(catalog, entry({"user": "b"}, OpData(REQUESTS, 9.0)))] == [0]
    assert describe(catalog) == [({"user": "b"}, {REQUESTS: 9.0, "consumer_byte_rate": 1.0})]


def exact(kind: str, name: str) -> ComponentData:
    return ComponentData(kind, Match.EXACT, name)


def default(kind: str) -> ComponentData:
    return ComponentData(kind, Match.DEFAULT, None)


def any_of(kind: str) -> ComponentData:
    return ComponentData(kind, Match.SPECIFIED, None)


ENTITIES: list[Named] = [
    {"client-id": "c"},
    {"client-id": "c", "user": "ann"},
    {"client-id": None, "user": None},
    {"ip": "192.0.2.1"},
    {"user": "ann"},
    {"user": None},
]


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([], False, [0, 1, 2, 3, 4, 5]),
        ([], True, []),
        ([exact("user", "ann")], False, [1, 4]),
        ([exact("user", "ann")], True, [4]),
        ([default("user")], False, [2, 5]),
        ([any_of("user")], False, [1, 2, 4, 5]),
        ([any_of("user")], True, [4, 5]),
        ([any_of("user"), exact("client-id", "c")], True, [1]),
        ([any_of("ip")], False, [3]),
        ([exact("ip", "192.0.2.2")], False, []),
    ],
)
def test_filters(components: list[ComponentData], strict: bool, found: list[int]) -> None:
    catalog = Catalog()
    for entity in ENTITIES:
        alter(catalog, entry(entity, OpData("connection_creation_rate" if "ip" in entity else REQUESTS, 1.0)))

    entities = [entity for entity, _ in describe(catalog, *components, strict=strict)]
    assert sorted(map(str, entities)) == sorted(str(ENTITIES[place]) for place in found)


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ([exact("", "a")], ErrorCode.INVALID_REQUEST),
        ([exact("user", "a"), any_of("user")], ErrorCode.INVALID_REQUEST),
        ([exact("team", "a")], ErrorCode.UNSUPPORTED_VERSION),
        ([ComponentData("user", Match.EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([ComponentData("user", Match.DEFAULT, "a")], ErrorCode.INVALID_REQUEST),
        ([ComponentData("user", Match.SPECIFIED, "a")], ErrorCode.INVALID_REQUEST),
        ([ComponentData("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([any_of("ip"), any_of("user")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_filters_that_are_refused(components: list[ComponentData], error: ErrorCode) -> None:
    with pytest.raises(CoordinatorError) as refused:
        quota_filter(DescribeClientQuotasRequest(components))
    assert refused.value.error == error
