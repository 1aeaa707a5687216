"""New connections by address: above the rate they are held and closed, and do not count."""

from __future__ import annotations

from structlog.testing import capture_logs

from coordinator_server.server.wire.address_rates import AddressRates
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.sampled_rate import MOST_RATES, Windows
from protocol.messages.cluster_metadata import ClientQuotaRecord, EntityData
from tests.support.clock import ManualClock

ANN, BOB = "192.0.2.1", "192.0.2.2"


class Rates(AddressRates):
    """The rates of a loop whose clock the test moves. ``quotas`` are by address; None is every other one."""

    def __init__(self, quotas: dict[str | None, float]) -> None:
        self.clock = ManualClock()
        self.incidents = Incidents(Episodes(self.clock.now_ms))
        super().__init__(Windows(11, 1000), self.incidents, self.clock.now_ms)
        self.use([ClientQuotaRecord([EntityData("ip", name)], "connection_creation_rate", rate) for name, rate in quotas.items()])

    def accepted(self, host: str, tries: int) -> int:
        """Return how many of the connections are not held."""
        with capture_logs():
            return sum(not self.hold_ms(host) for _ in range(tries))


def test_without_quotas_nothing_is_held() -> None:
    assert Rates({}).accepted(ANN, 1000) == 1000


def test_an_address_has_its_rate_and_the_others_that_of_the_default() -> None:
    rates = Rates({ANN: 2, None: 1})

    assert [rates.accepted(host, 100) for host in (ANN, BOB, "::1")] == [20, 10, 10]
    rates.use([])
    assert rates.accepted(ANN, 100) == 100


def test_what_is_held_waits_for_a_window_at_most_and_does_not_count() -> None:
    """Half above the rate waits for as long as the half takes; attempts of others are not counted."""
    rates = Rates({ANN: 2})
    rates.accepted(ANN, 20)

    with capture_logs() as lines:
        assert [rates.hold_ms(ANN), rates.hold_ms(ANN)] == [500, 500]
    assert rates.hold_ms(BOB) == 0
    assert [line["event"] for line in lines] == ["connection-quota-exceeded"]
    rates.clock.advance(11_000)
    assert rates.accepted(ANN, 100) == 20
    assert Rates({ANN: 0.01}).hold_ms(ANN) == 1000


def test_an_address_is_the_same_over_ipv6() -> None:
    rates = Rates({ANN: 2})

    assert rates.accepted(f"::ffff:{ANN}", 12) + rates.accepted(ANN, 12) == 20


def test_the_addresses_that_are_remembered_are_limited() -> None:
    rates = Rates({None: 0.1})
    rates.accepted(ANN, 1)
    for number in range(MOST_RATES):
        rates.hold_ms(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")

    assert len(rates._rates) == MOST_RATES
    assert rates.hold_ms(ANN) == 0
