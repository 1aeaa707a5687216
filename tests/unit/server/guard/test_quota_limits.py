"""Which quota a client has, and with whom it is measured together: Kafka's order of precedence."""

from __future__ import annotations

import pytest

from coordinator_server.server.guard.quota_limits import QuotaLimits
from protocol.messages.cluster_metadata import ClientQuotaRecord, EntityData

Entity = dict[str, str | None]

USER_AND_CLIENT: Entity = {"user": "ann", "client-id": "c"}
USER_AND_ANY: Entity = {"user": "ann", "client-id": None}
USER: Entity = {"user": "ann"}
ANY_AND_CLIENT: Entity = {"user": None, "client-id": "c"}
ANY_AND_ANY: Entity = {"user": None, "client-id": None}
ANY_USER: Entity = {"user": None}
CLIENT: Entity = {"client-id": "c"}
ANY_CLIENT: Entity = {"client-id": None}
IN_ORDER = [USER_AND_CLIENT, USER_AND_ANY, USER, ANY_AND_CLIENT, ANY_AND_ANY, ANY_USER, CLIENT, ANY_CLIENT]
MEASURED = [("ann", "c"), ("ann", "c"), ("ann", None), ("ann", "c"), ("ann", "c"), ("ann", None), (None, "c"), (None, "c")]


def limits(*entities: Entity) -> QuotaLimits:
    """Quotas of these entities, with their positions in IN_ORDER as values."""
    return QuotaLimits(
        [
            ClientQuotaRecord([EntityData(*each) for each in entity.items()], "q", float(IN_ORDER.index(entity)))
            for entity in entities
        ],
        "q",
    )


def quota(found: QuotaLimits, user: str, client_id: str) -> float | None:
    return found.limit(found.measured(user, client_id))


@pytest.mark.parametrize("first", range(len(IN_ORDER)))
def test_the_most_specific_quota_applies(first: int) -> None:
    found = limits(*IN_ORDER[first:])

    assert quota(found, "ann", "c") == first
    assert found.measured("ann", "c") == MEASURED[first]


def test_default_quotas_apply_to_other_entities() -> None:
    found = limits(*IN_ORDER)

    assert quota(found, "ann", "other") == IN_ORDER.index(USER_AND_ANY)
    assert quota(found, "bob", "c") == IN_ORDER.index(ANY_AND_CLIENT)
    assert quota(found, "bob", "other") == IN_ORDER.index(ANY_AND_ANY)
    assert quota(limits(USER, CLIENT), "bob", "other") is None


def test_all_users_of_a_default_are_measured_apart() -> None:
    found = limits(ANY_USER)

    assert found.measured("ann", "c") != found.measured("bob", "c")
    assert found.measured("ann", "c") == found.measured("ann", "d")


@pytest.mark.parametrize(
    ("entity", "measured", "of_another"),
    [(CLIENT, (None, "c"), None), (USER, ("ann", None), None), (USER_AND_CLIENT, ("ann", "c"), None)],
)
def test_with_quotas_of_one_kind_that_alone_tells_clients_apart(
    entity: Entity, measured: tuple[str | None, str | None], of_another: float | None
) -> None:
    found = limits(entity)

    assert found.measured("ann", "c") == measured
    assert quota(found, "bob", "d") is of_another


def test_quotas_of_other_names_and_of_addresses_do_not_count() -> None:
    other = ClientQuotaRecord([EntityData("user", "ann")], "other", 1.0)
    address = ClientQuotaRecord([EntityData("ip", "192.0.2.1")], "q", 1.0)

    assert not QuotaLimits([other, address], "q")
    assert quota(QuotaLimits([other, address], "q"), "ann", "c") is None


@pytest.mark.parametrize("entity", [USER_AND_ANY, ANY_AND_ANY, ANY_CLIENT])
def test_a_client_without_a_name_has_a_quota_of_any_client(entity: Entity) -> None:
    """Otherwise an empty client id would evade it, as it does in Kafka."""
    for found in (limits(entity), limits(entity, CLIENT), limits(entity, USER_AND_CLIENT)):
        assert quota(found, "ann", "") == IN_ORDER.index(entity)
    assert limits(entity).measured("ann", "") != limits(entity).measured("ann", "c")
