"""A coordinator in memory that answers as it is told: for tests of clients, in virtual time.

It decodes each request with the declarations of protocol/, notes it, and answers with what ``script`` has for its API, or with the
plain answer of a group that has one member.
"""

from __future__ import annotations

import asyncio
import struct
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

from coordinator_server.client.environment import Environment
from coordinator_server.client.settings import Address
from protocol.codec import decode, decoder, encode
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.frames import FrameSplitter
from protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.create_topics import CreateTopicsRequest
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.headers import RequestHeader
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.messages.offset_fetch import OffsetFetchRequest
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from protocol.messages.sasl_handshake import SaslHandshakeRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from protocol.schema import all_messages
from tests.support.client import response_type

R = TypeVar("R", bound=Message)

API_VERSIONS: Final = 18
REQUESTS: Final[dict[int, type[Message]]] = {
    each.kafka.key: each for each in all_messages() if each.__name__.endswith("Request") and each.kafka.key is not None
}
SERVED: Final = (
    ApiVersionsRequest,
    CreateTopicsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    SyncGroupRequest,
)
LATENCY_S: Final = 0.001
NEVER: Final = "never answered"
DISCONNECT: Final = "disconnect"
ADDRESS: Final = Address("coordinator", 9092)

Answer = Message | str | asyncio.Future[Message]
Scripted = Answer | Callable[[Any], Answer]


class ScriptedCoordinator:
    """``script[request type]`` has the next answers: a message, a future of one, a function of the request, NEVER or DISCONNECT."""

    def __init__(self) -> None:
        self.script: dict[type[Message], deque[Scripted]] = defaultdict(deque)
        self.requests: list[tuple[float, int, Message]] = []
        """When, which connection, and what was asked."""
        self.versions = {
            key: (each.kafka.versions.low, each.kafka.versions.high) for key, each in REQUESTS.items() if each in SERVED
        }
        self.topics: dict[str, int] = {}
        self.is_down = False
        self.connections: list[ServerSide] = []
        self.generation = 0
        self.needs_member_id = True
        self._assignments: dict[str, bytes] = {}
        self._opened = 0

    @property
    def environment(self) -> Environment:
        """For clients: this coordinator is the network, and time is that of the running loop."""
        return Environment(now_s=lambda: asyncio.get_running_loop().time(), random=lambda: 0.5, connect=self._connect)

    def limit(self, **versions: int) -> None:
        """Serve no newer version: ``limit(JoinGroup=3)``."""
        for key, each in REQUESTS.items():
            if (high := versions.get(each.__name__.removesuffix("Request"))) is not None:
                self.versions[key] = (min(self.versions[key][0], high), high)

    def asked(self, request: type[R]) -> list[R]:
        """Return all requests of a type so far."""
        return [each for _, _, each in self.requests if isinstance(each, request)]

    def times(self, request: type[Message]) -> list[float]:
        """Return when they came."""
        return [when for when, _, each in self.requests if isinstance(each, request)]

    def cut(self) -> None:
        """Break all connections."""
        for each in list(self.connections):
            each.cut()

    async def _connect(
        self, protocol: Callable[[], asyncio.BaseProtocol], address: Address, _tls: object
    ) -> asyncio.BaseTransport:
        await asyncio.sleep(LATENCY_S)
        if self.is_down or address != ADDRESS:
            raise ConnectionRefusedError(f"nobody listens on {address}")
        made = protocol()
        assert isinstance(made, asyncio.Protocol)
        self._opened += 1
        side = ServerSide(self, made, self._opened)
        self.connections.append(side)
        made.connection_made(side)
        return side

    def answer(self, request: Message) -> Answer:
        """Return the next answer of the script, or the plain one."""
        scripted = self.script[type(request)]
        if not scripted:
            return self.plain_answer(request)
        found = scripted.popleft()
        return found(request) if callable(found) else found

    def plain_answer(self, request: Message) -> Message:
        """Answer as a group of one member does."""
        match request:
            case ApiVersionsRequest():
                return ApiVersionsResponse(0, [ApiVersion(key, low, high) for key, (low, high) in self.versions.items()])
            case MetadataRequest():
                return MetadataResponse(
                    brokers=[MetadataResponseBroker(0, ADDRESS.host, ADDRESS.port)],
                    topics=[self._topic(each.name or "") for each in request.topics or ()],
                )
            case FindCoordinatorRequest():
                if request.coordinator_keys:
                    return FindCoordinatorResponse(
                        coordinators=[Coordinator(each, 0, *ADDRESS) for each in request.coordinator_keys]
                    )
                return FindCoordinatorResponse(node_id=0, host=ADDRESS.host, port=ADDRESS.port)
            case JoinGroupRequest():
                return self._join(request)
            case SyncGroupRequest():
                self._assignments |= {each.member_id: each.assignment for each in request.assignments}
                return SyncGroupResponse(0, assignment=self._assignments.get(request.member_id, b""))
            case OffsetCommitRequest():
                return committed(request, ErrorCode.NONE)
            case _:
                return response_type(type(request))()

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name not in self.topics:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return MetadataResponseTopic(
            name=name, partitions=[MetadataResponsePartition(partition_index=index) for index in range(self.topics[name])]
        )

    def _join(self, request: JoinGroupRequest) -> JoinGroupResponse:
        if self.needs_member_id and not request.member_id and request.group_instance_id is None:
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="member-1")
        return self.joined(request)

    def joined(self, request: JoinGroupRequest, *, leader: str = "", skip_assignment: bool = False) -> JoinGroupResponse:
        """Answer a join with the next generation, whose leader is the only member unless another one is named."""
        self.generation += 1
        member_id = request.member_id or "member-1"
        first = request.protocols[0]
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_name=first.name,
            leader=leader or member_id,
            skip_assignment=skip_assignment,
            member_id=member_id,
            members=[JoinGroupResponseMember(member_id, request.group_instance_id, first.metadata)],
        )


class ServerSide(asyncio.Transport):
    """The transport of a client: what it writes is answered, in order."""

    def __init__(self, server: ScriptedCoordinator, client: asyncio.Protocol, number: int) -> None:
        super().__init__()
        self.number = number
        self.is_open = True
        self._server = server
        self._client = client
        self._splitter = FrameSplitter(1 << 30)

    def write(self, data: Any) -> None:
        if self.is_open:
            for frame in self._splitter.feed(bytes(data)):
                asyncio.get_running_loop().call_later(LATENCY_S, self._received, frame)

    def abort(self) -> None:
        self.is_open = False
        self._forget()

    def cut(self) -> None:
        """Close it from the server's side."""
        if self.is_open:
            self.abort()
            self._client.connection_lost(None)

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        if self.is_open:
            self._client.data_received(data)

    def _received(self, frame: bytes) -> None:
        if not self.is_open:
            return
        key, version = struct.unpack_from(">hh", frame)
        request_type = REQUESTS[key]
        flexible = version in request_type.kafka.flexible
        header, pos = decoder(RequestHeader, 2 if flexible else 1)(frame, 0)
        low, high = self._server.versions[key]
        if not low <= version <= high:
            assert key == API_VERSIONS, f"{request_type.__name__} has version {version}, {low} to {high} are served"
            answer: Answer = ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, [ApiVersion(key, low, high)])
            version = 0
        else:
            request = decode(request_type, version, frame[pos:])
            self._server.requests.append((asyncio.get_running_loop().time(), self.number, request))
            answer = self._server.answer(request)
        if answer == DISCONNECT:
            self.cut()
        elif isinstance(answer, Message):
            self._reply(answer, key, version, header.correlation_id)
        elif isinstance(answer, asyncio.Future):
            answer.add_done_callback(lambda done: self._reply(done.result(), key, version, header.correlation_id))

    def _reply(self, answer: Message, key: int, version: int, correlation_id: int) -> None:
        has_tags = key != API_VERSIONS and version in type(answer).kafka.flexible
        body = struct.pack(">i", correlation_id) + (b"\0" if has_tags else b"") + encode(answer, version)
        asyncio.get_running_loop().call_later(LATENCY_S, self.send, struct.pack(">i", len(body)) + body)

    def _forget(self) -> None:
        if self in self._server.connections:
            self._server.connections.remove(self)


def committed(request: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
    """Answer a commit with one error code for all partitions."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.name, partitions=[OffsetCommitResponsePartition(each.partition_index, code) for each in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def heartbeat(code: ErrorCode) -> HeartbeatResponse:
    """Answer a heartbeat."""
    return HeartbeatResponse(error_code=code)
