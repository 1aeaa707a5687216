"""Transcripts stand for the broker: what they say counts as if it said it, and only to the script that it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.differential.lockstep import Difference, Lockstep
from tests.differential.playing import Archive, Stage
from tests.differential.recorded import OtherRequest
from tests.differential.scripts import Script, recorded, scripts_of
from tests.differential.transcripts import DIRECTORY, Book, Told, Transcript

SCRIPTS = list(recorded())


@pytest.fixture
def script(archive: Archive) -> Script:
    """One with members that wait for each other, and records in the end."""
    return next(each for each in scripts_of("static") if each.title.endswith("fenced at every API, in a stable group"))


@pytest.fixture
def transcript(script: Script) -> Transcript:
    """A copy of what the broker said to it."""
    return deepcopy(Book(script.book).transcripts[script.title])


def replayed(script: Script, transcript: Transcript, stage: Stage) -> None:
    lockstep = Lockstep(stage.life.ours, transcript, f"{script.prefix}{token_hex(4)}-")
    try:
        lockstep.play(script.lines)
        lockstep.compare_logs()
        lockstep.assert_all_told()
    finally:
        lockstep.close()


def test_answers_equal_the_recorded_transcript(script: Script, transcript: Transcript, stage: Stage) -> None:
    """Nothing differs, and nothing is left over."""
    replayed(script, transcript, stage)


def _other_answer(transcript: Transcript) -> None:
    transcript.steps[4].answers[4]["errorCode"] += 1


def _other_state(transcript: Transcript) -> None:
    transcript.steps[4].states["groups"][0]["groupState"] = "Empty"


def _other_record(transcript: Transcript) -> None:
    transcript.log["g"][-1]["value"]["generation"] += 1


def _no_record(transcript: Transcript) -> None:
    transcript.log["g"][-1]["value"] = None


def _no_answer(transcript: Transcript) -> None:
    del transcript.steps[4].answers[4]


def _other_marker(log: Mapping[str, Sequence[Any]]) -> None:
    log["markers:producer-0"][0]["end"] = "commit"


def _other_producer(log: Mapping[str, Sequence[Any]]) -> None:
    log["g"][-1]["epoch"] += 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_other_marker, "log of markers:producer-0.0..end: ours 'abort', Kafka 'commit'\n"),
        (_other_producer, "^log of g.1..epoch: ours 0, Kafka 1\n"),
    ],
)
def test_what_is_in_the_log_of_transactions_counts(
    change: Callable[[Mapping[str, Sequence[Any]]], None], what: str, stage: Stage
) -> None:
    """Who wrote a record, and how the transaction ended."""
    title = "fencing: by InitProducerId, in a transaction of the second version: all that the old one says"
    script = next(each for each in scripts_of("fencing") if each.title == title)
    transcript = deepcopy(Book(script.book).transcripts[title])
    change(transcript.log)

    with pytest.raises(Difference, match=what):
        replayed(script, transcript, stage)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_other_answer, "^4.errorCode: ours 82, Kafka 83\n"),
        (_other_state, "^state.groups.0..groupState: ours 'Stable', Kafka 'Empty'\n"),
        (_other_record, "^log of g.2..value.generation: ours 1, Kafka 2\n"),
        (_no_record, "^log of g.2..value: ours .*, Kafka None\n"),
        (_no_answer, "leaves A heartbeat v4 .request 4. parked"),
    ],
)
def test_whatever_else_the_broker_says_is_a_difference(
    change: Callable[[Transcript], None], what: str, script: Script, transcript: Transcript, stage: Stage
) -> None:
    """Answers, states and records, and that there is none."""
    change(transcript)

    with pytest.raises(Difference, match=what):
        replayed(script, transcript, stage)


def test_what_is_left_over_is_a_difference(script: Script, transcript: Transcript, stage: Stage) -> None:
    """The broker has come further than we have."""
    longer = transcript._replace(steps=[*transcript.steps, Told("A heartbeat g", "", {}, {})])

    with pytest.raises(AssertionError, match="goes on"):
        replayed(script, longer, stage)


def test_another_request_has_no_answer(script: Script, transcript: Transcript, stage: Stage) -> None:
    """Of the same line, when the code that makes requests of lines has changed."""
    steps = [step._replace(request="00000000") for step in transcript.steps]

    with pytest.raises(OtherRequest):
        replayed(script, transcript._replace(steps=steps), stage)


def test_a_script_that_changes_has_no_transcript(script: Script) -> None:
    """Until a broker has been asked."""
    assert Archive().fresh(script) is not None
    assert Archive().fresh(script._replace(lines=[*script.lines, "A heartbeat g"])) is None
    assert Archive().fresh(script._replace(title="another")) is None


def test_transcripts_are_of_one_kafka_version(tmp_path: Path) -> None:
    """Transcripts are of one version of Kafka."""
    head, _, rest = (DIRECTORY / "scripts" / "static.txt").read_text().partition("\n")
    (tmp_path / "static.txt").write_text(head.replace("Kafka 4", "Kafka 3") + "\n" + rest)

    assert not Book("static", tmp_path).transcripts


@pytest.mark.parametrize("name", sorted({script.book for script in SCRIPTS}))
def test_a_transcript_is_written_as_it_was_read(name: str, tmp_path: Path) -> None:
    """What a file says comes back from it, to the byte."""
    book = Book(name, tmp_path)
    book.transcripts = Book(name).transcripts
    book.write()

    assert book.text == Book(name).text


def test_no_transcript_is_left_of_scripts_that_are_gone() -> None:
    """Recording takes them away."""
    here = {(script.book, script.title) for script in SCRIPTS}
    names = [str(path.relative_to(DIRECTORY)).partition(".")[0] for path in DIRECTORY.rglob("*.txt*")]

    assert {(name, title) for name in names for title in Book(name).transcripts} <= here
