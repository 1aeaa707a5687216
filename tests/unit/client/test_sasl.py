from __future__ import annotations

import pytest

from coordinator_server.client import AuthenticationFailed, Sasl
from coordinator_server.client.sasl import exchange

USER = Sasl("user", "pencil", "SCRAM-SHA-256")
NONCE = "rOprNGfwEbeRWgbNEkqO"
FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_scram_is_that_of_rfc_7677() -> None:
    steps = exchange(USER, NONCE)

    assert next(steps) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert steps.send(FIRST) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    with pytest.raises(StopIteration):
        steps.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("final", [b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=", b"e=other-error", b"", b"\xff"])
def test_a_server_that_does_not_know_the_password_is_not_trusted(final: bytes) -> None:
    steps = exchange(USER, NONCE)
    next(steps)
    steps.send(FIRST)

    with pytest.raises(AuthenticationFailed):
        steps.send(final)


@pytest.mark.parametrize(
    "first",
    [
        b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=99999999",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=0",
        b"r=rOprNGfwEbeRWgbNEkqOx,s=W22ZaJ0SNY7soEsUEjb6gQ==",
        b"\xff\xff",
        b"",
    ],
)
def test_a_first_message_that_is_refused(first: bytes) -> None:
    """A nonce that is not this client's, a salt that is none, and work without end."""
    steps = exchange(USER, NONCE)
    next(steps)

    with pytest.raises(AuthenticationFailed):
        steps.send(first)


def test_names_are_escaped() -> None:
    assert next(exchange(Sasl("a=b,c", "x"), "n")) == b"n,,n=a=3Db=2Cc,r=n"
