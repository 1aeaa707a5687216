"""``groups what-if``: the rebalances of a group as they were, and as they would have been by other rules."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

import msgspec

from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.group_words import reason_words
from coordinator_server.cli.log_actions import print_answer
from coordinator_server.cli.observed_directory import removed_to, say_what_is_missing
from coordinator_server.cli.output import counted, note
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import shown
from coordinator_server.kinds import GROUPS
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.whatif.advice import Saving, advise, duration_text
from coordinator_server.whatif.figures import Certainty, Cost, Figure
from coordinator_server.whatif.life import Life, Missing
from coordinator_server.whatif.measured import measured_silences
from coordinator_server.whatif.membership import Membership
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.silences import Heard
from coordinator_server.whatif.topics import read_topics
from coordinator_server.whatif.verdict import Compared, Question, Verdict, judge, sides_of

_NAMES: Final = {
    "rebalances": "rebalances",
    "moved": "partitions moved",
    "needless": "moves that balance did not need",
    "imbalance": "imbalance, at worst",
    "stopped": "members that stopped",
    "standstill_ms": "standstill, of all members",
}


class _Answer(msgspec.Struct):
    """The answer as JSON."""

    question: Question
    verdict: Verdict
    advice: list[Saving]


def show_what_if(options: argparse.Namespace) -> None:
    """Print the answer. Raises PipelineError."""
    life = _life(options)
    if not life.generations:
        raise PipelineError(_nothing(options.group, life))
    membership = Membership(options.static, options.session_timeout, options.rebalance_delay)
    question = Question(options.assignor, membership, options.since, options.until)
    sides = sides_of(life, question)
    verdict = judge(life, sides)
    if verdict.first_ms is None:
        raise PipelineError(f"group {options.group} did not change in this period: --from and --to choose a different one")
    say_what_is_missing(options.data_dir, GROUPS.topic, GroupHistory(options.data_dir, options.group, note).shard.name)
    answer = _Answer(question, verdict, advise(sides.period, verdict.recorded))
    print_answer(options, answer, _lines(answer, each=options.each))


def _life(options: argparse.Namespace) -> Life:
    """Read the group's life. Raises PipelineError."""
    ends = durable(options.data_dir, retries_of(options))
    topics = read_topics(options.data_dir, ends.get(CATALOG_SHARD, 0))
    history = GroupHistory(options.data_dir, options.group, note)
    upto, removed = ends.get(history.shard.name, 0), removed_to(options.data_dir).get(history.shard.name, 0)
    session_ms = options.session_timeout
    measured = measured_silences(options.data_dir, options.group, history.shard.name, session_ms) if session_ms else None

    def read(batches: Batches, begins_at: int) -> Life:
        reader = LifeReader(topics, options.group, None if measured is None else Heard(session_ms, measured))
        reader.add(batches, upto)
        return reader.lives(max(begins_at, removed)).get(options.group, Life(options.group, [], []))

    return history.read(read, upto)


def _nothing(group_id: str, life: Life) -> str:
    if life.unreadable:
        return f"the members of group {group_id} do not use the protocol of consumers: their assignments are in their own format"
    return f"the log has no rebalance of group {group_id}"


def _lines(answer: _Answer, *, each: bool) -> Iterator[str]:
    verdict = answer.verdict
    assert verdict.first_ms is not None
    assert verdict.last_ms is not None
    in_force = ", ".join(verdict.assignors) or "no members"
    yield f"group {verdict.group} from {shown(verdict.first_ms)} to {shown(verdict.last_ms)}: {in_force}"
    yield ""
    rows = [("", "as it was", "", f"with {_rules(answer.question)}", "")]
    for name, text in _NAMES.items():
        rows.append((text, *_cells(name, verdict.recorded), *_cells(name, verdict.what_if)))
    yield from columns(rows)
    yield ""
    yield from _proof(verdict)
    if verdict.shortened_ms:
        yield _shorter(verdict, answer.question.membership.session_timeout_ms)
    for missing in verdict.missing:
        yield _missing(missing)
    if verdict.unreadable:
        yield f"{counted(verdict.unreadable, 'generation')} in a format of its members are left out"
    if each:
        yield ""
        heading = ("time", "generation", "members", "as it was", "what if", "cause")
        yield from columns([heading, *map(_change, verdict.changes)])
    yield ""
    yield from _advice(verdict.group, answer.advice)


def _rules(question: Question) -> str:
    """Return what is asked, in words."""
    asked = question.membership
    words = [question.assignor or "the same assignor"]
    words += ["static members"] if asked.static else []
    words += [f"sessions of {duration_text(asked.session_timeout_ms)}"] if asked.session_timeout_ms else []
    words += [f"a delay of {duration_text(asked.delay_ms)}"] if asked.delay_ms else []
    return ", ".join(words)


def _cells(name: str, cost: Cost) -> tuple[str, str]:
    figure: Figure = getattr(cost, name)
    certainty = "" if figure.certainty is Certainty.KNOWN else figure.certainty
    if figure.value is None:
        return "?", certainty
    return (duration_text(figure.value) if name == "standstill_ms" else f"{figure.value:,}"), certainty


def _proof(verdict: Verdict) -> Iterator[str]:
    found = verdict.reproduced
    if found.generations:
        yield f"the rule in force gives what was recorded in {found.same:,} of {counted(found.generations, 'generation')}"
    if found.differ:
        others = f"in the others, {counted(found.moved, 'partition')} would have another owner"
        yield f"  {others}, and {found.as_balanced:,} of them are as balanced: what follows is an estimate"
    if found.unknown:
        yield f"{counted(found.unknown, 'generation')} by an assignor that is not known here: they are taken as they were"


def _shorter(verdict: Verdict, session_ms: int) -> str:
    """Say what is known of a session that is shorter than it was."""
    had, asked = duration_text(verdict.shortened_ms), duration_text(session_ms)
    if verdict.silences is None:
        return f"members had sessions of up to {had}: whether one of {asked} would have ended is not known"
    if not verdict.silences:
        return f"no session of {asked} would have ended: no member was silent for so long"
    times = counted(verdict.silences, "time")
    return f"{times} a member was silent for {asked}, or may have been: its session is taken to have ended"


def _missing(missing: Missing) -> str:
    is_one = missing.first == missing.last
    numbers = f"generation {missing.first}" if is_one else f"generations {missing.first} to {missing.last}"
    verb = "is" if is_one else "are"
    if missing.is_removed:
        return f"{numbers} {verb} missing: compaction has removed the records"
    return f"{numbers} {verb} missing: the log has no record, as when a group changes again before it is assigned"


def _change(change: Compared) -> tuple[str, ...]:
    causes = "; ".join(map(reason_words, change.reasons)) or "-"
    as_it_was, what_if = (_summary(cost) for cost in (change.recorded, change.what_if))
    return shown(change.at_ms), str(change.generation), str(change.members), as_it_was, what_if, causes


def _summary(cost: Cost | None) -> str:
    """Return a cost in few words."""
    if cost is None:
        return "no change"
    stood = cost.standstill_ms.value
    lasted = "" if not stood else f", {duration_text(stood)}"
    return f"{cost.moved.value if cost.moved.value is not None else '?'} moved, {cost.stopped.value or 0} stopped{lasted}"


def _advice(group_id: str, advice: list[Saving]) -> Iterator[str]:
    if not advice:
        yield "none of the rules that are tried here would have saved anything"
    for saving in advice:
        yield f"{saving.rule}: group {group_id}: {saving.text}"
        yield from (f"  {each}" for each in saving.evidence)
