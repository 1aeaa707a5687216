"""Links between nodes, over loopback: TCP with TLS, in which each side proves who it is."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvloop
from msgspec import Struct

from coordinator_server.log.members import Member
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.security.tls import ListenerTls
from coordinator_server.security.tls_settings import TlsSettings
from coordinator_server.server.cluster import node_links, presence
from coordinator_server.server.cluster.effects import Asked, Courier, Destinations
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.cluster.link_transport import OtherNodes
from coordinator_server.server.cluster.messages import Hello
from coordinator_server.server.cluster.neighbours import Identity, Neighbours
from coordinator_server.server.cluster.node_links import GREETING_BYTES, MOST_STRANGERS, Greeting, NodeLinks
from coordinator_server.server.cluster.presence import Presence
from coordinator_server.server.cluster.view import Endpoint
from coordinator_server.server.wire.acceptor import SocketAcceptor
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from protocol.error_codes import ErrorCode
from tests.support.certificates import Authority
from tests.support.certificates import Identity as Certified
from tests.support.configs import config_with
from tests.support.ports import free_port
from tests.support.runtime import CONTEXT
from tests.support.views import loops_nodes

CLUSTER = "cluster"
REFUSED = "node-link-refused"
HOST = "127.0.0.1"


class Said(Struct, frozen=True):
    words: str


SAY: Effect[Said, Said] = Effect("__said", "say", Said, Said)


def echo(_runtime: Any, _partition: int, _context: RequestContext, request: Said, reply: Any) -> None:
    reply.complete(Said(request.words.upper()))


def tls_of(directory: Path, authority: Authority, certified: Certified) -> ListenerTls:
    """The TLS of a node, as its properties give it."""
    name = certified.certificate.subject.rfc4514_string()
    config = config_with(
        ssl_keystore_location=str(certified.write(directory / f"{name}.pem")),
        ssl_truststore_location=str(authority.write(directory / f"{name}-trust.pem")),
    )
    return ListenerTls(TlsSettings.of(config, "NODES"), is_for_nodes=True)


class Node(NamedTuple):
    """A node with its listener, and its links for effects."""

    links: NodeLinks
    neighbours: Neighbours
    incidents: Incidents
    acceptor: SocketAcceptor

    async def say(self, to: int, words: str) -> Said | ErrorCode:
        """Have a shard of another node hear something. Return its answer, or the error."""
        answered: asyncio.Future[Said | ErrorCode] = asyncio.get_running_loop().create_future()
        reply = CallbackReply(answered.set_result, lambda error, _words: answered.set_result(error))
        self.neighbours.ask(to, None, Ownership(ShardId(SAY.topic, 0), 1), SAY, Said(words), reply)
        async with asyncio.timeout(10):
            return await answered


class Nothing:
    """A runtime that has no shards."""

    def ownership(self, _partition: int) -> None: ...


class Cluster(NamedTuple):
    """What starts nodes that know each other by ``addresses``."""

    directory: Path
    authority: Authority
    addresses: dict[int, Endpoint]
    started: list[Node]

    async def start(self, node: int, certified: Certified | None = None) -> Node:
        incidents = Incidents(Episodes(lambda: 0))
        tls = tls_of(self.directory, self.authority, certified or self.authority.issue(f"node-{node}"))
        links = NodeLinks(OtherNodes(CLUSTER, node, self.addresses.get), tls, incidents)
        courier = Courier({SAY.topic: 1}, loops_nodes(3, node, first_id=0), CONTEXT)
        rows = {SAY.topic: {SAY.name: Asked(SAY, echo)}}
        courier.deliver_to(Destinations({SAY.topic: Nothing()}, rows, lambda _: True))  # type: ignore[dict-item]
        neighbours = Neighbours(Identity(node, 1), links.purpose("effects"), courier)
        acceptor = SocketAcceptor(asyncio.get_running_loop(), links, incidents)
        # Another node may have been started in its place.
        self.addresses[node] = Endpoint(*await acceptor.bind(HOST, 0))
        await acceptor.start()
        await neighbours.start()
        self.started.append(Node(links, neighbours, incidents, acceptor))
        return self.started[-1]

    def tls(self, name: str) -> ssl.SSLContext:
        """What a node connects with."""
        return tls_of(self.directory, self.authority, self.authority.issue(name)).connecting

    async def connect(self, to: int, context: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.addresses[to], ssl=context)

    async def close(self) -> None:
        for node in self.started:
            node.acceptor.close()
            await node.neighbours.stop()
            node.links.close()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(tmp_path, Authority(), {}, [])
    yield cluster
    await cluster.close()


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether the other side closes the connection, and says nothing."""
    async with asyncio.timeout(10):
        try:
            return await reader.read() == b""
        except OSError:
            return True


async def test_shards_of_two_nodes_exchange_messages(cluster: Cluster) -> None:
    """Both ways, over a link of each node."""
    one, two = await cluster.start(1), await cluster.start(2)

    assert await one.say(2, "a") == Said("A")
    assert await two.say(1, "b") == Said("B")
    assert (one.incidents.counts, two.incidents.counts) == ({}, {})


async def test_a_node_without_a_trusted_certificate_is_refused(cluster: Cluster) -> None:
    """With one of another authority, with none, and without TLS."""
    two = await cluster.start(2)
    impostor = await cluster.start(1, Authority("other").issue("impostor"))
    trusting = ssl.create_default_context(cadata=cluster.authority.pem)
    reader, writer = await cluster.connect(2, trusting)
    plain, plain_writer = await cluster.connect(2, None)
    plain_writer.write(encode_message(Greeting(CLUSTER, 1, 2, "effects")))

    assert await impostor.say(2, "a") is ErrorCode.NETWORK_EXCEPTION
    assert (await ended(reader), await ended(plain)) == (True, True)
    assert two.incidents.counts == {"tls-handshake-failed": 3}
    writer.close()
    plain_writer.close()


async def test_nothing_is_sent_to_a_node_that_does_not_prove_its_host(cluster: Cluster) -> None:
    """Its authority is not trusted, or its certificate is for another host."""
    one = await cluster.start(1)
    await cluster.start(2, cluster.authority.issue("two", host="two.example"))
    assert await one.say(2, "a") is ErrorCode.NETWORK_EXCEPTION
    await cluster.start(2, Authority("other").issue("two"))
    assert await one.say(2, "a") is ErrorCode.NETWORK_EXCEPTION

    assert one.incidents.counts == {REFUSED: 2}


async def test_a_node_cannot_take_the_id_of_another_host(cluster: Cluster) -> None:
    """The view says which host an id has, and the certificate must name it."""
    one, two = await cluster.start(1), await cluster.start(2)
    cluster.addresses[1] = Endpoint("one.example", 1)

    assert await one.say(2, "a") is ErrorCode.NETWORK_EXCEPTION
    assert two.incidents.counts == {REFUSED: 1}


@pytest.mark.parametrize(
    "greeting",
    [
        Greeting("other cluster", 1, 2, "effects"),
        Greeting(CLUSTER, 1, 3, "effects"),
        Greeting(CLUSTER, 7, 2, "effects"),
        Greeting(CLUSTER, 2, 2, "effects"),
        Greeting(CLUSTER, 1, 2, "other purpose"),
        Hello(1, 1, 1),
        "x" * GREETING_BYTES,
    ],
    ids=["cluster", "destination", "unknown node", "the node itself", "purpose", "no greeting", "too large"],
)
async def test_a_wrong_greeting_is_refused(cluster: Cluster, greeting: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the certificate is: the connection is closed, counted and logged."""
    monkeypatch.setattr(node_links, "EARLY_S", 0.05)
    await cluster.start(1)
    two = await cluster.start(2)
    reader, writer = await cluster.connect(
        2, tls_of(cluster.directory, cluster.authority, cluster.authority.issue("one")).connecting
    )
    writer.write(encode_message(greeting))

    assert await ended(reader)
    assert two.incidents.counts == {REFUSED: 1}
    writer.close()


async def test_a_greeting_waits_for_the_view(cluster: Cluster) -> None:
    """A node joins, and connects before the others have read its row: that is no incident."""
    one, two = await cluster.start(1), await cluster.start(2)
    known = cluster.addresses.pop(1)
    answer = asyncio.ensure_future(one.say(2, "a"))
    await asyncio.sleep(0.05)
    assert not answer.done()

    cluster.addresses[1] = known

    assert await answer == Said("A")
    assert two.incidents.counts == {}


async def test_a_greeting_waits_for_its_purpose(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node owns the catalog before it serves it. If that lasts, the link is closed: its owner may be another one by then."""
    one, two = await cluster.start(1), await cluster.start(2)
    asker = Asker(cluster, Presence(one.links.purpose("presence"), Identity(1, 1)))
    answers = Presence(two.links.purpose("presence"), Identity(2, 5))
    asked = asyncio.ensure_future(asker.believes_gone(4))
    await asyncio.sleep(0.05)
    assert not asked.done()

    await answers.start()

    assert await asked
    answers.stop()
    monkeypatch.setattr(node_links, "EARLY_S", 0.05)
    assert not await asker.believes_gone(4)
    assert two.incidents.counts == {}


async def test_what_comes_behind_a_greeting_that_waits_is_bounded(cluster: Cluster) -> None:
    two = await cluster.start(2)
    reader, writer = await cluster.connect(2, cluster.tls("one"))
    writer.write(encode_message(Greeting(CLUSTER, 1, 2, "effects")))
    await writer.drain()
    await asyncio.sleep(0.05)
    writer.write(bytes(node_links.MOST_EARLY_BYTES + 1))

    assert await ended(reader)
    assert two.incidents.counts == {REFUSED: 1}
    writer.close()


async def test_a_node_speaks_for_itself_alone(cluster: Cluster) -> None:
    """A hello with another id than the greeting ends the link, and leaves that of the other node."""
    one, two = await cluster.start(1), await cluster.start(2)
    assert await one.say(2, "a") == Said("A")
    cluster.addresses[3] = Endpoint(HOST, 1)
    reader, writer = await cluster.connect(
        2, tls_of(cluster.directory, cluster.authority, cluster.authority.issue("three")).connecting
    )
    writer.write(encode_message(Greeting(CLUSTER, 3, 2, "effects")) + encode_message(Hello(1, 9, 9)))

    assert await ended(reader)
    assert await one.say(2, "b") == Said("B")
    assert two.incidents.counts == {}
    writer.close()


async def test_those_who_have_not_greeted_are_few(cluster: Cluster) -> None:
    """So memory before the greeting is bounded."""
    await cluster.start(1)
    two = await cluster.start(2)
    context = cluster.tls("one")
    waiting = [await cluster.connect(2, context) for _ in range(MOST_STRANGERS)]
    reader, writer = await cluster.connect(2, None)

    assert await ended(reader)
    assert two.incidents.counts == {REFUSED: 1}
    for each in (writer, *(each for _, each in waiting)):
        each.close()


class Asker(NamedTuple):
    """Node 1, which asks whether a process of node 2 is gone."""

    cluster: Cluster
    presence: Presence

    async def believes_gone(self, incarnation: int) -> bool:
        return await self.presence.is_gone(Member(2, incarnation), self.cluster.addresses[2])


@pytest.fixture
async def asker(cluster: Cluster) -> Asker:
    one = await cluster.start(1)
    return Asker(cluster, Presence(one.links.purpose("presence"), Identity(1, 1)))


async def test_a_process_that_listens_is_not_gone(cluster: Cluster, asker: Asker) -> None:
    """Only those before it are."""
    two = await cluster.start(2)
    who = Identity(2, 0)
    await Presence(two.links.purpose("presence"), who).start()
    assert not await asker.believes_gone(1), "it has not joined"
    who.incarnation = 5

    assert [await asker.believes_gone(incarnation) for incarnation in (4, 5, 6)] == [True, False, False]


async def test_a_process_is_gone_if_nobody_listens(cluster: Cluster, asker: Asker) -> None:
    cluster.addresses[2] = Endpoint(HOST, free_port())

    assert await asker.believes_gone(1)


async def test_whatever_else_answers_proves_nothing(cluster: Cluster, asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that does not know the question, one with another certificate, and a listener that does not accept."""
    await cluster.start(2)
    assert not await asker.believes_gone(1)

    impostor = await cluster.start(2, Authority("other").issue("impostor"))
    await Presence(impostor.links.purpose("presence"), Identity(2, 9)).start()
    assert not await asker.believes_gone(1)

    monkeypatch.setattr(presence, "ANSWER_S", 0.05)
    with socket.create_server((HOST, 0)) as silent:
        cluster.addresses[2] = Endpoint(*silent.getsockname())
        assert not await asker.believes_gone(1)


def test_the_loop_of_the_daemon_asks_and_answers(tmp_path: Path) -> None:
    """Its transports are none of asyncio's classes."""

    async def believed_gone() -> list[bool]:
        cluster = Cluster(tmp_path, Authority(), {}, [])
        one, two = await cluster.start(1), await cluster.start(2)
        await Presence(two.links.purpose("presence"), Identity(2, 5)).start()
        asker = Asker(cluster, Presence(one.links.purpose("presence"), Identity(1, 1)))
        found = [await asker.believes_gone(incarnation) for incarnation in (4, 5)]
        cluster.addresses[2] = Endpoint(HOST, free_port())
        found.append(await asker.believes_gone(5))
        await cluster.close()
        return found

    assert uvloop.run(believed_gone()) == [True, False, True]
