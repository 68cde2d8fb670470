"""Lines that change in place lose nothing of what others print, and leave the terminal as it was."""

from __future__ import annotations

import threading

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run import live_lines, progress
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.live_lines import LiveLines, cut

from e2e.stages import lines_on_screen


class Terminal:
    """Both outputs, in the order in which they are written."""

    def __init__(self, written, tty=True):
        self.written, self.tty = written, tty

    def write(self, text):
        self.written.append(text)
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return self.tty


class Shown:
    """Two streams with lines below; time stands still unless draw is called."""

    def __init__(self, monkeypatch, error_tty=True):
        self.written, self.errors, self.lines, self.taken = [], [], [("one", None), ("two", None)], []
        self.out, self.err = Terminal(self.written), Terminal(self.written if error_tty else self.errors, error_tty)
        monkeypatch.setattr(live_lines.sys, "stdout", self.out)
        monkeypatch.setattr(live_lines.sys, "stderr", self.err)
        monkeypatch.setattr(live_lines, "PAUSE_S", 3600)
        self.live = LiveLines(
            threading.RLock(), lambda: self.lines, self.take, lambda text, colour: text, lambda: (20, 8)
        )
        self.live.start()

    def take(self, text):
        words = progress.reported(text)
        self.taken += [words] if words else []
        return words is not None

    @property
    def screen(self):
        # As a terminal's own settings have it.
        rows = lines_on_screen("".join(self.written).replace("\n", "\r\n"))
        return rows[:-1] if rows[-1] == "" else rows


@pytest.fixture
def shown(monkeypatch):
    made = Shown(monkeypatch)
    yield made
    made.live.stop()


def test_what_is_printed_scrolls_by_above(shown):
    shown.live.draw()
    shown.out.write("changed: [a]\n")
    shown.err.write("[WARNING]: b\n")
    shown.live.draw()
    assert shown.screen == ["changed: [a]", "[WARNING]: b", "one", "two"]
    shown.lines = [("three", None)]
    shown.live.draw()
    assert shown.screen == ["changed: [a]", "[WARNING]: b", "three"]


def test_at_the_end_only_what_was_printed_is_left(shown):
    shown.out.write("a\n")
    shown.live.draw()
    shown.live.stop()
    shown.out.write("b\n")
    assert shown.screen == ["a", "b"]
    assert shown.out.write.__self__ is shown.out


def test_nothing_is_written_while_nothing_changes(shown):
    shown.live.draw()
    many = len(shown.written)
    shown.live.draw()
    assert len(shown.written) == many


def test_a_question_stays_untouched_until_its_line_ends(shown):
    shown.live.draw()
    shown.out.write("Go on? ")
    shown.live.draw()
    assert shown.screen == ["Go on? "]
    shown.out.write("yes\n")
    shown.live.draw()
    assert shown.screen == ["Go on? yes", "one", "two"]


def test_hidden_lines_do_not_come_back_by_themselves(shown):
    shown.live.draw()
    shown.live.hide()
    shown.live.draw()
    assert shown.screen == []
    shown.live.hide(False)
    shown.live.draw()
    assert shown.screen == ["one", "two"]


def test_lines_are_as_wide_and_as_many_as_fit(shown):
    shown.lines = [("x" * 30, None)] * 10
    shown.live.draw()
    assert shown.screen == ["x" * 19] * 4


def test_progress_is_taken_into_the_lines_and_other_text_is_not(shown):
    shown.err.write("... esx-01: 60 s\n")
    shown.err.write("\x1b[0;33m... esx-02: 60 s\x1b[0m\n")
    shown.err.write("... and more\nof it\n")
    assert shown.taken == ["esx-01: 60 s", "esx-02: 60 s"]
    assert shown.screen == ["... and more", "of it"]


def test_errors_that_go_to_a_file_go_there_whole(monkeypatch):
    shown = Shown(monkeypatch, error_tty=False)
    shown.live.draw()
    shown.err.write("... esx-01: 60 s\n")
    shown.live.stop()
    assert shown.errors == ["... esx-01: 60 s\n"]
    assert shown.screen == []


def test_progress_is_a_line_that_everybody_can_read():
    written = []

    class Display:
        def display(self, text, stderr=False):
            written.append((text, stderr))

    progress.report(Display(), "esx-01: 60 s")
    assert written == [("... esx-01: 60 s", True)]
    assert progress.reported(written[0][0] + "\n") == "esx-01: 60 s"


@pytest.mark.parametrize(
    "text, columns, kept",
    [
        ("plain", 10, "plain"),
        ("plain", 3, "pla"),
        ("\u4e3b\u6a5f\u540d", 5, "\u4e3b\u6a5f"),
        ("e\u0301t\u00e9", 3, "e\u0301t\u00e9"),
        ("a\x1b[2Jb\r\nc", 10, "a[2Jbc"),
    ],
)
def test_a_line_never_wraps_and_never_moves_the_cursor(text, columns, kept):
    assert cut(text, columns) == kept
