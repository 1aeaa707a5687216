"""Plays scripts on one life of the servers, with the broker's answers from transcripts where these are fresh,
and keeps new ones.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Final

from tests.differential.lockstep import BY_CHANCE, Lockstep, Outcome
from tests.differential.scripts import Script, recorded
from tests.differential.servers import Life, conditions
from tests.differential.transcripts import DIRECTORY, Book, Transcript, checksum

# Who leads after a leader is gone is a draw among members in Kafka; with as many tries it draws once as we choose.
# So it is with what is checked together.
TRIES: Final = 20


class Archive:
    """All transcripts. ``is_live`` if none of them counts; ``is_recording`` if new ones take their place."""

    def __init__(self, directory: Path = DIRECTORY, *, is_live: bool = False, is_recording: bool = False) -> None:
        self.is_live = is_live or is_recording
        self.is_recording = is_recording
        self._directory = directory
        self._books: dict[str, Book] = {}
        self._kept: set[str] = set()
        self._lock = Lock()

    def fresh(self, script: Script) -> Transcript | None:
        """What the broker said to this very script; None if nobody knows."""
        transcript = self._book(script.book).transcripts.get(script.title)
        return (
            transcript
            if transcript is not None and transcript.checksum == checksum(script.lines, conditions(script.book))
            else None
        )

    def keeps(self, script: Script) -> bool:
        """Whether what the broker says to it now is written down."""
        return self.is_recording and script.is_recorded

    def keep(self, script: Script, lockstep: Lockstep) -> None:
        """For a script that was played to its end on a broker."""
        if self.keeps(script):
            transcripts = self._book(script.book).transcripts
            transcripts[script.title] = lockstep.transcript(checksum(script.lines, conditions(script.book)))
            self._kept.add(script.book)

    def write(self) -> None:
        """The books that have changed, in the order of the scripts, and without those that are no more."""
        for name in self._kept:
            book = self._book(name)
            titles = [script.title for script in recorded() if script.book == name]
            book.transcripts = {title: book.transcripts[title] for title in titles if title in book.transcripts}
            book.write()

    def _book(self, name: str) -> Book:
        with self._lock:
            if name not in self._books:
                self._books[name] = Book(name, self._directory)
            return self._books[name]


class Stage:
    """Where scripts are played: one life of the servers, and the transcripts."""

    def __init__(self, life: Life, archive: Archive) -> None:
        self.life = life
        self.archive = archive

    def lockstep(self, script: Script, attempt: int = 0) -> Lockstep:
        """With a transcript that is fresh, else with a broker."""
        transcript = None if self.archive.is_live else self.archive.fresh(script)
        prefix = f"{script.prefix}{attempt}-"
        lockstep = Lockstep(
            self.life.ours,
            transcript or self.life.kafka(),
            prefix,
            has_consumers=script.has_consumers,
            has_shares=script.has_shares,
            has_streams=script.has_streams,
        )
        if any("''" in line for line in script.lines):
            lockstep.forget_nameless()
        return lockstep


def play(script: Script, stage: Stage) -> None:
    """The servers agree, but for what the script says; so do their logs,
    which cannot be read at one moment where time goes on to change them.
    """
    for attempt in range(TRIES):
        lockstep = stage.lockstep(script, attempt)
        outcome = _played(script, lockstep, with_log=script.has_log)
        if outcome.ended not in BY_CHANCE or lockstep.is_recorded:
            break
    judge(script, outcome)
    stage.archive.keep(script, lockstep)


def play_sequence(script: Script, stage: Stage) -> Outcome:
    """Both say the same to the end, or until Kafka draws another leader: the transcript is that of the draw that goes furthest."""
    best: tuple[Outcome, Lockstep] | None = None
    for attempt in range(TRIES if stage.archive.keeps(script) else 1):
        lockstep = stage.lockstep(script, attempt)
        outcome = _played(script, lockstep, with_log=True)
        if best is None or outcome.steps > best[0].steps:
            best = outcome, lockstep
        if outcome.ended not in BY_CHANCE:
            break
    assert best is not None
    stage.archive.keep(script, best[1])
    return best[0]


def judge(script: Script, outcome: Outcome) -> None:
    """What was seen is what the script says is to be seen."""
    assert outcome.ended not in BY_CHANCE, "Kafka never chose what is chosen here"
    missing = script.differs - outcome.seen.keys()
    assert not missing, f"listed differences {sorted(missing)} are not seen any more: take them off docs/differences.md"
    assert outcome.seen.keys() == script.differs, f"differences {sorted(outcome.seen)} are seen, which the script does not name"


def _played(script: Script, lockstep: Lockstep, *, with_log: bool) -> Outcome:
    try:
        outcome = lockstep.play(script.lines)
        if with_log and not outcome.ended:
            lockstep.compare_logs()
        lockstep.assert_all_told()
    finally:
        lockstep.close()
    return outcome
