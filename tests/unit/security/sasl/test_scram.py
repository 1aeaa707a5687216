"""SCRAM with the users of the catalog: our client and the server believe each other, and nobody else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism, credential_record
from coordinator_server.client.errors import AuthenticationFailed
from coordinator_server.client.sasl import exchange as client_exchange
from coordinator_server.client.settings import Sasl
from coordinator_server.security.sasl.exchange import Exchange, Refused
from coordinator_server.security.sasl.scram import scram
from protocol.messages.cluster_metadata import UserScramCredentialRecord

ITERATIONS = 5000


class Users:
    """Credentials by key."""

    def __init__(self, *names: str) -> None:
        self.records: dict[CredentialKey, UserScramCredentialRecord] = {}
        for name in names:
            for mechanism in ScramMechanism:
                salt = f"salt of {name} for {mechanism}".encode()
                salted = hashlib.pbkdf2_hmac(mechanism.digest, f"{name}'s password".encode(), salt, ITERATIONS)
                self.records[CredentialKey(name, mechanism)] = credential_record(name, mechanism, salt, salted, ITERATIONS)

    def credential(self, key: CredentialKey, /) -> UserScramCredentialRecord | None:
        return self.records.get(key)

    def usual_iterations(self, mechanism: ScramMechanism, /) -> int:
        return ITERATIONS


USERS = Users("alice", "a=b,c")


def begun(mechanism: ScramMechanism, users: Users) -> Exchange:
    begin, _ = scram(mechanism, users)
    return begin()


def talk(server: Exchange, mechanism: ScramMechanism, user: str, password: str, meddle: Callable[[bytes], bytes] = bytes) -> int:
    """Let our client talk to a server until the client is satisfied; return the number of its messages."""
    client = client_exchange(Sasl(user, password, str(mechanism)))
    token, sent = next(client), 1
    while True:
        answer = server.answer(token)
        try:
            token = meddle(client.send(answer))
        except StopIteration:
            return sent
        sent += 1


@pytest.mark.parametrize("mechanism", list(ScramMechanism))
@pytest.mark.parametrize("user", ["alice", "a=b,c"])
def test_client_and_server_believe_each_other(mechanism: ScramMechanism, user: str) -> None:
    server = begun(mechanism, USERS)

    assert talk(server, mechanism, user, f"{user}'s password") == 2
    assert (server.user, server.claimed, server.credential) == (user, user, CredentialKey(user, mechanism))


@pytest.mark.parametrize("mechanism", list(ScramMechanism))
@pytest.mark.parametrize(("user", "password"), [("alice", "guess"), ("alice", ""), ("nobody", "guess")])
def test_a_wrong_password_and_an_unknown_user_are_refused_alike(mechanism: ScramMechanism, user: str, password: str) -> None:
    """With the second message; the client is not told which of the two it was."""
    server = begun(mechanism, USERS)
    client = client_exchange(Sasl(user, password, str(mechanism)))
    final = client.send(server.answer(next(client)))

    with pytest.raises(Refused) as refused:
        server.answer(final)
    assert (refused.value.message, server.user, server.credential) == (None, None, None)


def test_an_unknown_user_looks_like_one() -> None:
    """The same salt each time, and another one than the next user's; the iterations of the others."""
    begin, _ = scram(ScramMechanism.SCRAM_SHA_256, USERS)

    def told(user: str) -> list[str]:
        client = client_exchange(Sasl(user, "", "SCRAM-SHA-256"))
        return begin().answer(next(client)).decode().split(",")[1:]

    assert told("nobody") == told("nobody") != told("another")
    assert {told(user)[1] for user in ("nobody", "another", "alice")} == {f"i={ITERATIONS}"}
    assert len(told("nobody")[0]) == len(f"s={'x' * 32}")


def test_a_user_who_is_removed_meanwhile_is_refused() -> None:
    users = Users("alice")
    server = begun(ScramMechanism.SCRAM_SHA_256, users)

    def removed(token: bytes) -> bytes:
        users.records.clear()
        return token

    with pytest.raises(Refused):
        talk(server, ScramMechanism.SCRAM_SHA_256, "alice", "alice's password", removed)
    assert server.user is None


@pytest.mark.parametrize(
    "token",
    [b"", b"n,,", b"\xff", b"n,,n=alice", b"p=tls-unique,,n=alice,r=x", b"n,a=bob,n=alice,r=x", b"n,,n=a=b,r=x", b"n,,m=1,n=a,r=x", b"n,,n=alice,r="],
)  # fmt: skip
def test_a_first_message_that_is_none_is_refused(token: bytes) -> None:
    with pytest.raises(Refused):
        begun(ScramMechanism.SCRAM_SHA_256, USERS).answer(token)


@pytest.mark.parametrize("change", [b"", b"c=biws", lambda token: token[:-8], lambda token: token.replace(b"r=", b"r=x")])
def test_a_final_message_that_is_none_is_refused(change: bytes | Callable[[bytes], bytes]) -> None:
    """A proof that is cut off, a nonce that is another one."""
    server = begun(ScramMechanism.SCRAM_SHA_256, USERS)
    meddle = change if callable(change) else lambda _token: change

    with pytest.raises(Refused):
        talk(server, ScramMechanism.SCRAM_SHA_256, "alice", "alice's password", meddle)


def test_an_exchange_ends_once() -> None:
    server = begun(ScramMechanism.SCRAM_SHA_256, USERS)
    talk(server, ScramMechanism.SCRAM_SHA_256, "alice", "alice's password")

    with pytest.raises(Refused):
        server.answer(b"c=biws,r=x,p=eA==")


def test_the_client_finds_a_server_out_that_has_no_key() -> None:
    """The server proves itself, too."""
    users = Users("alice")
    key = CredentialKey("alice", ScramMechanism.SCRAM_SHA_256)
    users.records[key].server_key = bytes(32)

    with pytest.raises(AuthenticationFailed, match="does not know the password"):
        talk(begun(ScramMechanism.SCRAM_SHA_256, users), ScramMechanism.SCRAM_SHA_256, "alice", "alice's password")
