"""``scripts/play_page.py``: a page is played as it stands, and one that says something else than what happens is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.play_page import Player, Wrong, environment_of

RIGHT = """\
# A page

```text title="greeting.txt"
hello
```

    $ false  # indented code is not played

```console title="server"
$ echo ready; cat greeting.txt; exec sleep 60
ready
```

It has printed more than that by now:

```console title="server"
hello
^C
```

```console title="other"
$ echo begun; exec sleep 60
begun
^C
$ echo again
again
```

```console
$ printf '1 a\\n2 b\\n3 c\\n'
1 …
…
3 c
$ true
```
"""


def played(page: str, directory: Path) -> list[str]:
    with Player(directory, environment_of(directory, None)) as player:
        return [step for step, _ in player.play(page)]


def test_a_page_is_played_from_top_to_bottom(tmp_path: Path) -> None:
    """Files are written, commands end, and those of a terminal go on beside what follows."""
    steps = played(RIGHT, tmp_path)

    assert [step.split()[0] for step in steps] == ["echo", "hello", "^C", "echo", "^C", "echo", "printf", "true"]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("console\n$ echo no\nyes\n", "expected\nyes\nand it printed\nno"),
        ("console\n$ printf '1\\n2\\n'\n1\n", "expected\n1\nand it printed\n1\n2"),
        ("console\n$ echo oops >&2; exit 3\n", "ended with 3\n.*oops"),
        ('console title="server"\n$ echo no\nyes\n', "expected\nyes"),
        ('console title="server"\n$ false\n$ true\n', "ended with 1"),
    ],
)
def test_a_page_that_is_wrong_is_found(block: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Wrong, match=re.compile(said, re.DOTALL)):
        played(f"```{block}```\n", tmp_path)


def test_addresses_are_moved_to_free_ports(tmp_path: Path) -> None:
    """The same one to the same port, so that pages can be played side by side; and what a link names has to be there."""
    echo = "```console\n$ echo 127.0.0.1:9092 127.0.0.1:9092 127.0.0.1:1 >addresses\n```\n"
    played(echo, tmp_path)
    first, second, other = (tmp_path / "addresses").read_text().split()

    assert first == second != other
    assert "127.0.0.1:9092" not in (first, other)
    with pytest.raises(Wrong, match=r"open http://127\.0\.0\.1:\d+/: .*refused"):
        played("See <http://127.0.0.1:9405/>.\n", tmp_path)
