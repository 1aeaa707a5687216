"""SCRAM with the users of the catalog: our client and the server believe each other, and nobody else."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from coordinator_server.catalog.scram_users import CredentialKey, ScramMechanism, credential_record
from coordinator_server.client.admin.users import Mechanism, upsertion
from coordinator_server.client.errors import AuthenticationFailed
from coordinator_server.client.sasl import exchange as client_exchange
from coordinator_server.client.settings import Sasl
from coordinator_server.security.sasl.conversation import Conversation, Refused
from coordinator_server.security.sasl.scram import LONGEST_MESSAGE, ScramUsers, Strangers, scram
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


USERS = Users("alice", "a=b,c")


def begun(mechanism: ScramMechanism, users: Users) -> Conversation:
    begin, _ = scram(mechanism, ScramUsers(users, Strangers(b"a secret", [ITERATIONS])))
    return begin()


def talk(
    server: Conversation, mechanism: ScramMechanism, user: str, password: str, meddle: Callable[[bytes], bytes] = bytes
) -> int:
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


def said_of(user: str, users: Users = USERS, key: bytes = b"a secret", iterations: Sequence[int] = (ITERATIONS,)) -> list[str]:
    """Salt and iterations, as a client gets them."""
    begin, _ = scram(ScramMechanism.SCRAM_SHA_256, ScramUsers(users, Strangers(key, iterations)))
    client = client_exchange(Sasl(user, "", "SCRAM-SHA-256"))
    return begin().answer(next(client)).decode().split(",")[1:]


def test_an_unknown_user_looks_like_one() -> None:
    """The same salt each time, in the form of those that tools make, and different from the next user's."""
    assert said_of("nobody") == said_of("nobody") != said_of("another")
    for number in range(100):
        salt = b64decode(said_of(f"nobody{number}")[0].removeprefix("s=")).decode()
        made = upsertion("alice", "x", Mechanism.SCRAM_SHA_256, 4096).salt.decode()
        assert [re.fullmatch("[0-9a-z]{23,26}", each) is not None for each in (salt, made)] == [True, True]


def test_what_is_said_of_an_unknown_user_depends_on_a_secret_and_the_name_alone() -> None:
    """Not on the loop, the start, or the users that there are."""
    others = Users(*(f"user {number}" for number in range(20)))

    assert said_of("nobody", others) == said_of("nobody", Users()) == said_of("nobody")
    assert said_of("nobody", key=b"another secret") != said_of("nobody")


def test_unknown_users_have_the_iterations_that_users_have() -> None:
    """As often as the property says."""
    found = Counter(said_of(f"nobody{number}", iterations=(4096, 4096, 8192))[1] for number in range(900))

    assert found.keys() == {"i=4096", "i=8192"}
    assert 500 < found["i=4096"] < 700


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
    [b"", b"n,,", b"\xff", b"n,,n=alice", b"p=tls-unique,,n=alice,r=x", b"n,a=bob,n=alice,r=x", b"n,,n=a=b,r=x", b"n,,m=1,n=a,r=x",
     b"n,,n=alice,r="],
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


def test_a_long_message_is_refused_unread() -> None:
    """To prepare a long name takes long, and strangers may send one."""
    mechanism = ScramMechanism.SCRAM_SHA_256
    fits = LONGEST_MESSAGE - len(b"n,,n=,r=nonce")
    assert begun(mechanism, USERS).answer(b"n,,n=" + b"u" * fits + b",r=nonce").startswith(b"r=nonce")

    server = begun(mechanism, USERS)
    with pytest.raises(Refused):
        server.answer(b"n,,n=" + b"u" * (fits + 1) + b",r=nonce")
    assert server.claimed == ""


def test_scram_refuses_a_message_after_the_last_one() -> None:
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
