"""ShareFetch (78): a member's share session, and its acknowledgements (KIP-932, KIP-1222).

Virtual topics have no records. So a request with partitions that exist is answered after its maximum wait time, unless it asks for
no bytes or no records. ``server/hosting/share_sessions.py`` has what a session remembers.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.authorizer import Verdicts
from coordinator_server.server.apis.acknowledgements import (
    DONE,
    FIRST_WITH_RENEWAL,
    Outcome,
    Outcomes,
    Rules,
    acknowledge,
    have_acknowledgements,
)
from coordinator_server.server.apis.lists import UNITS_PER_STEP, StepBudget
from coordinator_server.server.exchange.api_row import ApiRow, Touched
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import ApiAccess, verdicts_for
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.share_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    SessionKey,
    SessionTopic,
    ShareSession,
    ShareSessions,
    next_epoch,
)
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.share_fetch import (
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

MAX_MEMBER_ID: Final = 36
"""The characters of a UUID. Share members choose their ids themselves."""


class _Fetch(NamedTuple):
    """A request whose session has been brought up to date. ``readable`` says of which topics it may read records; None: of all."""

    node: Node
    request: ShareFetchRequest
    reply: Exchange[ShareFetchResponse]
    session: ShareSession
    outcomes: Outcomes
    readable: Verdicts | None

    @property
    def is_first(self) -> bool:
        return self.request.share_session_epoch == INITIAL_EPOCH


def session_key(group_id: str | None, member_id: str | None) -> SessionKey:
    """Return whose session a request is about. Raises INVALID_REQUEST."""
    if group_id is None or not member_id or len(member_id) > MAX_MEMBER_ID:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    return SessionKey(group_id, member_id)


def touched_session(group_id: str | None, member_id: str | None) -> Touched:
    """Return what a request about a session touches (``ApiRow.touches``)."""
    return frozenset((f"share session of {member_id} in {group_id}",))


def share_fetch(node: Node, context: RequestContext, request: ShareFetchRequest, reply: Exchange[ShareFetchResponse]) -> None:
    """Bring the session up to date now; answer when something has changed, or after the maximum wait time."""
    work = _fetch(node, context, request, reply)
    if reply.is_large or node.share_sessions.size_of(request.group_id, request.member_id) > UNITS_PER_STEP:
        reply.connection.use_up()
        node.steps.run_on(reply, work)
    else:
        at_once(work)


def _fetch(node: Node, context: RequestContext, request: ShareFetchRequest, reply: Exchange[ShareFetchResponse]) -> Work[None]:
    key = session_key(request.group_id, request.member_id)
    is_renewal = context.api_version >= FIRST_WITH_RENEWAL and request.is_renew_ack
    if is_renewal and any((request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    has_acknowledgements = yield from have_acknowledgements(request.topics)
    if reply.connection.is_closed:
        return
    try:
        session = yield from _session(node, key, request, reply, has_acknowledgements=has_acknowledgements)
    except CoordinatorError as refused:
        if refused.error != ErrorCode.SHARE_SESSION_LIMIT_REACHED:
            raise
        # Later, so that its next attempt does not follow at once.
        if not reply.connection.is_closed:
            node.answer_after(request.max_wait_ms, reply, ShareFetchResponse(error_code=refused.error))
        return
    rules = Rules(context.api_version, is_renewal)
    readable = verdicts_for(node, context, Operation.READ, ResourceType.TOPIC)
    outcomes = (yield from acknowledge(node, session, request.topics, rules, readable)) if has_acknowledgements else {}
    fetch = _Fetch(node, request, reply, session, outcomes, readable)
    if request.share_session_epoch == FINAL_EPOCH:
        node.share_sessions.end(session)
        _complete(fetch, _acknowledged(fetch))
    elif is_renewal:
        _complete(fetch, _acknowledged(fetch))
    elif (yield from _must_wait(fetch)) and not reply.connection.is_closed:
        node.run_after(request.max_wait_ms, reply, partial(_answer, fetch))
    else:
        _answer(fetch)


def _session(
    node: Node,
    key: SessionKey,
    request: ShareFetchRequest,
    reply: Exchange[ShareFetchResponse],
    *,
    has_acknowledgements: bool,
) -> Work[ShareSession]:
    """Return the session as the request leaves it (``SharePartitionManager.newContext``)."""
    sessions, epoch = node.share_sessions, request.share_session_epoch
    if epoch == FINAL_EPOCH:
        return sessions.existing(key)
    if epoch == INITIAL_EPOCH:
        if has_acknowledgements:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST)
        session = sessions.begin(key, reply.connection)
        yield from _add(sessions, session, request)
        return session
    session = sessions.go_on(key, epoch)
    yield from _add(sessions, session, request)
    budget = StepBudget()
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            sessions.forget(session, forgotten.topic_id, index)
            if budget.spend(1):
                yield
        if budget.spend(1):
            yield
    return session


def _add(sessions: ShareSessions, session: ShareSession, request: ShareFetchRequest) -> Work[None]:
    """Add the partitions of a request. A session does not begin with one that is named twice."""
    is_first = request.share_session_epoch == INITIAL_EPOCH
    budget = StepBudget()
    for topic in request.topics:
        for each in topic.partitions:
            if session.is_ended:
                return
            is_new = sessions.add(session, topic.topic_id, each.partition_index)
            if is_first and not is_new:
                sessions.end(session)
                raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
            if is_new and not is_first:
                session.topics[topic.topic_id].pending.add(each.partition_index)
            if budget.spend(1):
                yield
        if budget.spend(1):
            yield


def _must_wait(fetch: _Fetch) -> Work[bool]:
    """Return whether records could come: of partitions that exist, and the request takes some."""
    request = fetch.request
    if request.max_wait_ms <= 0 or not _takes_records(request) or min(request.min_bytes, request.max_bytes) <= 0:
        return False
    budget = StepBudget()
    for topic_id, topic in list(fetch.session.topics.items()):
        count, _ = _count(fetch, topic_id, topic)
        if count and topic.active:
            if topic.are_all_below(count):
                return True
            for index, is_in in list(topic.partitions.items()):
                if is_in and 0 <= index < count:
                    return True
                if budget.spend(1):
                    yield
        if budget.spend(1):
            yield
    return False


def _takes_records(request: ShareFetchRequest) -> bool:
    return request.max_records != 0 and request.max_bytes != 0


def _count(fetch: _Fetch, topic_id: bytes, topic: SessionTopic) -> tuple[int, ErrorCode]:
    """Return how many partitions a topic of the session has, and the error of all others."""
    found = fetch.node.image.topic_by_id(topic_id)
    if found is not None:
        topic.is_known = True
        if fetch.readable is not None and not fetch.readable[found.name]:
            return 0, ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return found.partitions, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic.is_known else ErrorCode.UNKNOWN_TOPIC_ID


def _answer(fetch: _Fetch) -> None:
    _complete(fetch, _answered(fetch))


def _complete(fetch: _Fetch, work: Work[ShareFetchResponse]) -> None:
    """Answer at once if that is little work, otherwise in steps."""
    reply = fetch.reply
    if reply.connection.is_closed:
        return
    if reply.is_large or fetch.session.size > UNITS_PER_STEP:
        fetch.node.steps.run(reply, work)
    else:
        reply.complete(at_once(work))


def _acknowledged(fetch: _Fetch) -> Work[ShareFetchResponse]:
    """Answer acknowledgements alone."""
    return (yield from _response(fetch, {}))


def _answered(fetch: _Fetch) -> Work[ShareFetchResponse]:
    """Answer what is new in the session (``ShareSessionContext.updateAndGenerateResponseData``)."""
    session, epoch = fetch.session, fetch.request.share_session_epoch
    if not fetch.is_first and session.epoch != next_epoch(epoch):
        # A later request of the session has come over a different connection.
        response = yield from _response(fetch, {})
        response.error_code = ErrorCode.INVALID_SHARE_SESSION_EPOCH
        return response
    found: dict[bytes, dict[int, ErrorCode]] = {}
    takes_records = _takes_records(fetch.request)
    budget = StepBudget()
    for topic_id, topic in list(session.topics.items()):
        count, error = _count(fetch, topic_id, topic)
        named = topic.partitions if fetch.is_first or not topic.are_all_below(count) else topic.pending
        of_topic: dict[int, ErrorCode] = {}
        for index in list(named):
            if topic.partitions.get(index):
                if not 0 <= index < count:
                    of_topic[index] = error
                    if not fetch.is_first:
                        topic.pending.add(index)
                elif takes_records and (fetch.is_first or index in topic.pending):
                    of_topic[index] = ErrorCode.NONE
                    topic.pending.discard(index)
            if budget.spend(1):
                yield
        if of_topic:
            found[topic_id] = of_topic
        if budget.spend(1):
            yield
    return (yield from _response(fetch, found))


def _response(fetch: _Fetch, found: dict[bytes, dict[int, ErrorCode]]) -> Work[ShareFetchResponse]:
    """Return the response with the errors of partitions, and the outcomes of acknowledgements beside them."""
    topics: list[ShareFetchableTopicResponse] = []
    budget = StepBudget()
    for topic_id in [*found, *(topic_id for topic_id in fetch.outcomes if topic_id not in found)]:
        outcomes, errors = fetch.outcomes.get(topic_id, {}), found.get(topic_id, {})
        partitions: list[PartitionData] = []
        for index in [*errors, *(index for index in outcomes if index not in errors)]:
            partitions.append(_partition(index, errors.get(index, ErrorCode.NONE), outcomes.get(index, DONE)))
            if budget.spend(1):
                yield
        topics.append(ShareFetchableTopicResponse(topic_id, partitions))
    lock_ms = fetch.node.share_lock_ms(fetch.session.key.group_id)
    return ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms, responses=topics)


def _partition(index: int, error: ErrorCode, acknowledged: Outcome) -> PartitionData:
    return PartitionData(index, error, acknowledge_error_code=acknowledged.error, acknowledge_error_message=acknowledged.message)


def refuse_share_fetch(
    context: RequestContext, request: ShareFetchRequest, error: ErrorCode, message: str | None
) -> ShareFetchResponse:
    """Refuse the request. The answer has no message, as in Kafka."""
    return ShareFetchResponse(error_code=error)


def _touches(request: ShareFetchRequest) -> Touched:
    return touched_session(request.group_id, request.member_id)


SHARE_FETCH_API = ApiRow(
    ShareFetchRequest,
    ShareFetchResponse,
    share_fetch,
    refuse_share_fetch,
    Order.ALONE,
    touches=_touches,
    access=ApiAccess((READ_GROUP,), in_handler=((Operation.READ, ResourceType.TOPIC),)),
)
