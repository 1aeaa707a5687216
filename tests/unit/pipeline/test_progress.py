from __future__ import annotations

import io

from coordinator_server.pipeline.progress import TerminalProgress, progress_on


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_that_is_written_over() -> None:
    """Shards, bytes and records while it runs, nothing of it at the end."""
    terminal = Terminal()
    progress = progress_on(terminal)
    assert isinstance(progress, TerminalProgress)

    progress.start(50, 2_300_000_000)
    progress.advance(7, 123_456)
    progress.stop()

    said = terminal.getvalue()
    assert "7/50 shards of 2,300.0 MB, 123,456 records" in said
    assert "\n" not in said
    assert said.endswith("\r\x1b[K")


def test_progress_is_not_printed_into_a_pipe() -> None:
    """Output in a pipe is for programs."""
    pipe = io.StringIO()
    progress = progress_on(pipe)

    progress.start(50)
    progress.advance(7, 123_456)
    progress.stop()

    assert pipe.getvalue() == ""
