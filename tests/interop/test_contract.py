"""What every client has to find here, whatever it is written in: one set of scenarios, run with `--clients` by `make interop`.

A scenario that a client cannot take part in is not run with it; `contract_table.py` says why, and shows all of it at the end.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.clients import ConfluentAdmin, MemberOptions
from tests.interop.crew import ClientProcess, Crew, Refused
from tests.interop.programs import command_of
from tests.support.certificates import Authority
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.node_cluster import NodeCluster
from tests.support.server import ROOT, Server
from tests.support.tokens import key_set, token

# Outlasts any restart of a member's process.
LONG_SESSION_MS = 60_000


@pytest.fixture
def group(client: str, shared_bootstrap: str, crew_of: Callable[[str, str], Crew]) -> Crew:
    """A group without members, on a topic of six partitions."""
    return crew_of(client, shared_bootstrap)


@pytest.fixture
def admin(client: str, shared_bootstrap: str) -> Iterator[ClientProcess]:
    admin = ClientProcess([*command_of(client), "admin", shared_bootstrap])
    yield admin
    admin.clean_up()


PASSWORD = "of interop"
# sarama leaves SCRAM to another library.
MECHANISMS = {"sarama": "PLAIN"}


class Secured:
    """A server of two loops that takes members with a certificate or a password only, but for one listener."""

    def __init__(self, directory: Path) -> None:
        authority = Authority()
        self.trusted = authority.write(directory / "trusted.pem")
        self.identity = authority.issue("interop").write(directory / "interop.pem")
        self.keys = directory / "keys.json"
        self.keys.write_bytes(key_set("RS256"))
        self.server = Server(
            directory,
            {
                "listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
                "listener.name.sasl_ssl.sasl.enabled.mechanisms": "OAUTHBEARER",
                "listener.name.sasl_ssl.ssl.client.auth": "none",
                "listener.name.sasl_ssl.connections.max.reauth.ms": 4000,
                "sasl.oauthbearer.jwks.endpoint.url": self.keys.as_uri(),
                "listener.name.sasl_plaintext.plain.sasl.jaas.config": "${env:JAAS}",
                "ssl.keystore.location": authority.issue("server").write(directory / "server.pem"),
                "ssl.truststore.location": self.trusted,
                "ssl.client.auth": "required",
                "ssl.principal.mapping.rules": "RULE:CN=([a-z]*)/$1/",
            },
            loops=2,
        )
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        self.server.environment = {"JAAS": f'{module} required user_interop="{PASSWORD}";'}

    @property
    def bootstrap(self) -> str:
        return f"localhost:{self.server.listeners['SSL'][0]}"

    @property
    def sasl_bootstrap(self) -> str:
        return f"127.0.0.1:{self.server.listeners['SASL_PLAINTEXT'][0]}"

    @property
    def token_bootstrap(self) -> str:
        return f"localhost:{self.server.listeners['SASL_SSL'][0]}"

    def add_user(self) -> None:
        """Give interop a password for SCRAM."""
        words = ["users", "add", "interop", "--password-env", "PASSWORD", "--execute", "--data-dir", str(self.server.data_dir)]
        assert run_command(*words, environment={"PASSWORD": PASSWORD}).returncode == 0

    def why(self, group: str) -> str:
        """What the log says of a group."""
        command = [sys.executable, "-m", "coordinator_server", "groups", "why", "--data-dir", str(self.server.data_dir), group]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    secured = Secured(tmp_path_factory.mktemp("secured"))
    with secured.server:
        secured.add_user()
        yield secured


def test_join(group: Crew) -> None:
    """Three members share six partitions, each has one owner."""
    owners = group.join(3).settle()

    assert [len(member.owned) for member in group.members] == [2, 2, 2]
    assert sorted(owners) == [0, 1, 2, 3, 4, 5]


def test_tls(client: str, secured: Secured, fresh_name: str) -> None:
    """A member with a certificate finds the group over TLS, with several loops, and what it commits is known by its name."""
    ConfluentAdmin(secured.server.bootstrap).create_topic(fresh_name, 6)
    with Crew(client, secured.bootstrap, fresh_name, fresh_name, 6) as group:
        group.join(2, MemberOptions(trusted=str(secured.trusted), identity=str(secured.identity))).settle()
        group.members[0].commit({group.members[0].owned[0]: 7})

    assert "User:interop" in secured.why(fresh_name)


def test_sasl(client: str, secured: Secured, fresh_name: str) -> None:
    """A member with a password finds the group on any loop, and what it commits is known by its name."""
    ConfluentAdmin(secured.server.bootstrap).create_topic(fresh_name, 6)
    mechanism = MECHANISMS.get(client, "SCRAM-SHA-512")
    with Crew(client, secured.sasl_bootstrap, fresh_name, fresh_name, 6) as group:
        group.join(2, MemberOptions(mechanism=mechanism, user="interop", password=PASSWORD)).settle()
        group.members[0].commit({group.members[0].owned[0]: 7})

    assert "User:interop" in secured.why(fresh_name)


def test_tokens(client: str, secured: Secured, fresh_name: str, tmp_path: Path) -> None:
    """A member with a token finds the group on any loop over TLS, proves in time that it still has one, and is known by it.

    Nobody loses a partition over that.
    """
    ConfluentAdmin(secured.server.bootstrap).create_topic(fresh_name, 6)
    now = int(time.time())
    file, text = tmp_path / "token", token({"sub": "robot", "iat": now, "exp": now + 600}, "RS256")
    file.write_text(text)
    options = MemberOptions(trusted=str(secured.trusted), mechanism="OAUTHBEARER", user=file.as_uri(), password=text)
    with Crew(client, secured.token_bootstrap, fresh_name, fresh_name, 6) as group:
        group.join(2, options).settle()
        before = [len(member.history) for member in group.members]
        for offset in (7, 8, 9):
            time.sleep(2)
            group.members[0].commit({group.members[0].owned[0]: offset})
        assert [len(member.history) for member in group.members] == before

    assert "User:robot" in secured.why(fresh_name)


def test_rebalance(group: Crew) -> None:
    """A newcomer gets its share, all others having let go of theirs;
    what a leaver had goes to the others without waiting for its session.
    """
    patient = MemberOptions(session_timeout_ms=LONG_SESSION_MS)
    group.join(2, patient).settle()
    before = [len(member.history) for member in group.members]
    group.join(1, patient).settle()
    assert [len(member.owned) for member in group.members] == [2, 2, 2]
    assert all([] in member.history[told:] for member, told in zip(group.members, before, strict=False))

    group.leave(group.members[0])

    group.settle(LONG_SESSION_MS / 2000)
    assert [len(member.owned) for member in group.members] == [3, 3]


def test_cooperative_sticky(group: Crew) -> None:
    """A newcomer gets its share, and nobody ever lets go of what it keeps (KIP-429)."""
    cooperative = MemberOptions(is_cooperative=True)
    group.join(2, cooperative).settle()
    before = [len(member.history) for member in group.members]

    group.join(1, cooperative).settle()

    eventually(lambda: [len(member.owned) for member in group.members] == [2, 2, 2])
    for member, told in zip(group.members, before, strict=False):
        assert all(set(member.owned) <= set(owned) for owned in member.history[told:]), member.history


def test_static_restart(group: Crew) -> None:
    """A static member that is killed and started again has what it had, and nobody else notices (KIP-345)."""
    named = [MemberOptions(f"instance-{number}", session_timeout_ms=LONG_SESSION_MS) for number in range(2)]
    for options in named:
        group.join(1, options)
    group.settle()
    other, killed = group.members
    told = len(other.history)

    group.die(killed)
    group.join(1, named[1]).settle()

    assert group.members[1].owned == killed.owned
    assert other.history[told:] == []


def test_takeover(group: Crew) -> None:
    """What the dead had goes to the others when its session is over."""
    group.join(3).settle()

    group.die(group.members[1])

    assert sorted(group.settle()) == [0, 1, 2, 3, 4, 5]


def test_commit_and_read_back(group: Crew) -> None:
    """What an owner commits is read by every member, and by the next ones when all are gone; what nobody committed is none."""
    owners = group.join(2).settle()
    for partition in range(5):
        owners[partition].commit({partition: 100 + partition})
    positions = {0: 100, 1: 101, 2: 102, 3: 103, 4: 104, 5: None}

    assert [member.committed(range(6)) for member in group.members] == [positions] * 2
    for member in list(group.members):
        group.leave(member)
    group.join(1).settle()
    assert group.members[0].committed(range(6)) == positions


def test_server_killed(
    client: str,
    nodes: NodeCluster | None,
    tmp_path_factory: pytest.TempPathFactory,
    crew_of: Callable[[str, str], Crew],
) -> None:
    """After kill -9 of the server and another start the members find their way back, and every acknowledged position is there.

    With several nodes it is the group's owner that is killed, and starts again when another one has the group.
    """
    if nodes is not None:
        group = crew_of(client, nodes.bootstrap)
        _survive(group, lambda: _replace_owner(nodes, group.group))
        return
    with Server(tmp_path_factory.mktemp("killed")) as server:

        def restart() -> None:
            server.kill()
            server.start()

        _survive(crew_of(client, server.bootstrap), restart)


def _survive(group: Crew, kill: Callable[[], None]) -> None:
    for partition, owner in group.join(2).settle().items():
        owner.commit({partition: 1000 + partition})

    kill()

    assert group.members[0].committed(range(6)) == {partition: 1000 + partition for partition in range(6)}
    for partition, owner in group.settle().items():
        owner.commit({partition: 2000 + partition})
    assert group.members[1].committed(range(6)) == {partition: 2000 + partition for partition in range(6)}


def _replace_owner(nodes: NodeCluster, group_id: str) -> None:
    killed = nodes.owner_of(group_id)
    nodes.nodes[killed].kill()
    eventually(lambda: nodes.owner_of(group_id) not in (killed, -1))
    nodes.nodes[killed].start()


def test_admin_lists_and_describes(group: Crew, admin: ClientProcess) -> None:
    """Topics are made once and shown; a live group is listed, described as stable with its members, and its positions are read."""
    admin.call("create_topic", [f"{group.topic}-more", 4])
    with pytest.raises(Refused, match=r"(?i)already.?exists"):
        admin.call("create_topic", [f"{group.topic}-more", 4])
    group.join(1).settle()[3].commit({3: 33})

    eventually(lambda: admin.call("partitions_of", f"{group.topic}-more") == 4)
    assert group.group in admin.call("groups", None)
    assert admin.call("describe", group.group) == ["Stable", 1]
    assert admin.call("committed", [group.group, group.topic]) == {"3": 33}


def test_admin_alters_and_deletes(group: Crew, admin: ClientProcess) -> None:
    """Positions are set while nobody is there, and a group with members is not deleted; an empty one is, with its positions."""
    owner = group.join(1).settle()[0]
    owner.commit({0: 10})
    with pytest.raises(Refused, match=r"(?i)non.?empty|not empty|68"):
        admin.call("delete", group.group)
    group.leave(owner)

    admin.call("alter", [group.group, group.topic, {0: 5, 1: 6}])
    assert admin.call("committed", [group.group, group.topic]) == {"0": 5, "1": 6}

    admin.call("delete", group.group)
    assert group.group not in admin.call("groups", None)
    assert admin.call("committed", [group.group, group.topic]) == {}
