from __future__ import annotations

import pytest

from coordinator_server.client import AuthenticationFailed, InvalidSettings, OAuthBearer, Sasl
from coordinator_server.client.sasl import bearer, exchange

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


class Given:
    """A source of tokens that nobody asks here."""

    def token(self) -> str:
        raise AssertionError


def test_a_token_is_sent_with_extensions() -> None:
    steps = bearer(OAuthBearer(Given(), {"tenant": "a b"}), "x.y.z")

    assert next(steps) == b"n,,\x01auth=Bearer x.y.z\x01tenant=a b\x01\x01"
    with pytest.raises(StopIteration):
        steps.send(b"")


def test_a_rejection_is_answered() -> None:
    """As RFC 7628 has it: then the server refuses. One that does not has said no all the same."""
    steps = bearer(OAuthBearer(Given()), "x.y.z")
    next(steps)

    assert steps.send(b'{"status":"invalid_token"}') == b"\x01"
    with pytest.raises(AuthenticationFailed, match=r"does not take the token: .*invalid_token"):
        steps.send(b"")


@pytest.mark.parametrize("extension", [{"auth": "x"}, {"a1": "x"}, {"a": ""}, {"": "x"}, {"a": "x\x01b=c"}, {"a": "\xe9"}])
def test_wrong_extensions_are_refused(extension: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings):
        OAuthBearer(Given(), extension)
