"""The forms in which commands print their answers."""

from __future__ import annotations

import json

import pytest

from coordinator_server.cli.answers import Answer, Rows, changes, print_answer

ROWS = [
    {"group": "a", "members": 2, "assignment": {"t": [0, 1]}, "is_internal": True, "lag": None},
    {"group": 'b,"c"\n', "members": 0, "assignment": {}, "is_internal": False, "lag": 5},
]


TEXT = """\
group      members  assignment  is internal  lag
a          2        t 0,1       yes          -
b,"c"\\x0a  0        -           no           5
"""
FIRST = '{"group":"a","members":2,"assignment":{"t":[0,1]},"is_internal":true,"lag":null}'
SECOND = r'{"group":"b,\"c\"\n","members":0,"assignment":{},"is_internal":false,"lag":5}'
CSV = """\
group,members,assignment,is_internal,lag
a,2,"{""t"":[0,1]}",true,
"b,""c""\\x0a",0,{},false,5
"""


@pytest.mark.parametrize(
    ("form", "printed"), [("text", TEXT), ("json", f"[{FIRST},{SECOND}]\n"), ("jsonl", f"{FIRST}\n{SECOND}\n"), ("csv", CSV)]
)
def test_every_form_has_every_field(form: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And no text of a client breaks a line or reaches a terminal as a control code."""
    assert print_answer(form, Answer(ROWS)) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(("form", "out"), [("text", ""), ("json", "[]\n"), ("jsonl", ""), ("csv", "")])
def test_no_rows_are_said_on_stderr_only(form: str, out: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(form, Answer([], empty="there are no groups"))

    printed = capsys.readouterr()
    assert printed.out == out
    assert printed.err == ("coordinator-server: there are no groups\n" if form == "text" else "")


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "csv"])
def test_many_rows_are_made_as_they_are_printed(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They look as a list of them does."""
    numbers = range(2_345)

    def row(number: int) -> dict[str, object]:
        return {"group": f"g{number}", "members": number or None}

    rows = Rows(numbers, row)
    assert (len(rows), rows[-1], list(rows[1:3])) == (2_345, row(2_344), [row(1), row(2)])
    print_answer(form, Answer(rows))
    printed = capsys.readouterr().out
    print_answer(form, Answer([row(number) for number in numbers]))

    assert capsys.readouterr().out == printed
    assert printed.count("g") == 2_345 + {"text": 1, "csv": 1}.get(form, 2_345)
    if form == "json":
        assert json.loads(printed) == [row(number) for number in numbers]


def test_changes_are_previewed_made_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A refusal makes the exit code 1; without one, a table has no column for it."""
    good: dict[str, object] = {"topic": "a", "error": None}
    bad: dict[str, object] = {"topic": "b", "error": ValueError("it is full")}

    codes = [
        print_answer("text", changes([good], "deleted", executed=False)),
        print_answer("text", changes([good], "deleted", executed=True)),
        print_answer("text", changes([good, bad], "deleted", executed=True)),
    ]

    printed = capsys.readouterr()
    assert codes == [0, 0, 1]
    assert [line.split() for line in printed.out.splitlines()] == [
        ["topic", "outcome"],
        ["a", "would", "be", "deleted"],
        ["topic", "outcome"],
        ["a", "deleted"],
        ["topic", "outcome", "error"],
        ["a", "deleted", "-"],
        ["b", "refused", "it", "is", "full"],
    ]
    assert printed.err.count("--execute") == 1
