"""The log of a server that served clients tells of them."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.machine.provenance import Provenance, Reason, read_provenance
from coordinator_server.offsets.attribution import spoken_for
from protocol.error_codes import ErrorCode
from protocol.record_batch import Record, iter_batches, iter_records
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, describe_group, must_commit


def records(server: Server, topic: str) -> list[Record]:
    """All records of a server that was stopped, shard by shard."""
    found: list[Record] = []
    for path in sorted(server.data_dir.glob(f"{topic}-*/*.log")):
        data = path.read_bytes()
        for position, header in iter_batches(data):
            found += iter_records(data, position, header)
    return found


def told(server: Server, topic: str = "__consumer_offsets") -> list[Provenance]:
    """What the records that tell anything say."""
    return [each for record in records(server, topic) if (each := read_provenance(record.headers)) is not None]


def test_records_have_headers_with_their_origin_and_reason(tmp_path: Path) -> None:
    """Declared topics, a commit of many partitions, a group's first generation, its member leaving and another's session ending."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        with Client(server.address) as client:
            assert set(commit_alone(client, "alone", "orders", {0: 1, 1: 1, 2: 1}).values()) == {ErrorCode.NONE}
        first, second = form_group(server.address, "workers", 2, session_timeout_ms=1000)
        ids = first.member_id, second.member_id
        assert second.leave() == ErrorCode.NONE
        with Client(server.address) as client:
            eventually(lambda: describe_group(client, "workers").group_state == "Empty")
        assert server.stop() == 0

        declared = told(server, "__cluster_metadata")
        [commit] = [each for each in told(server) if each.api_key == 8]
        stored = [each for each in told(server) if each.api_key == 14]
        [expired] = [each for each in told(server) if each.operation == "timer"]
        assert declared == [Provenance("server", reasons=(Reason("topics-declared"),))]
        assert (commit.client_host, commit.reasons, commit.others) == ("127.0.0.1", (), ())
        assert {(each.client_host, each.reasons[0].why) for each in stored} == {("127.0.0.1", "member-joined")}
        assert spoken_for(stored[0]).member_id == stored[0].reasons[0].whom == ids[0]
        assert [(each.why, each.whom) for each in expired.reasons][-2:] == [("member-left", ids[1]), ("session-timeout", ids[0])]
        # Three offsets, one of which tells for all.
        assert len([each for each in records(server, "__consumer_offsets") if b"alone" in (each.key or b"")]) == 3


def test_no_record_has_provenance_headers_when_log_provenance_is_false(tmp_path: Path) -> None:
    """``log.provenance=false``: not one header."""
    with Server(tmp_path, {"topics": "orders:6", "log.provenance": "false"}) as server:
        form_group(server.address, "workers", 2)
        with Client(server.address) as client:
            must_commit(client, "alone", "orders", {0: 1})
        assert server.stop() == 0

        found = [*records(server, "__cluster_metadata"), *records(server, "__consumer_offsets")]
        assert len(found) > 3
        assert [record for record in found if record.headers] == []
