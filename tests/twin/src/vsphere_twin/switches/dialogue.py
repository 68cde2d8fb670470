"""Interface of the SSH server to an interactive command line: prompts, answers, questions, pages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """Answer to a line."""

    text: str = ""  # lines, each ended by \n
    ask: str | None = None  # a question; the next line that is typed goes to Dialogue.answer
    hidden: bool = False  # True if the input is not echoed
    close: bool = False  # the switch ends the session


class Dialogue:
    """One session of a user at a command line."""

    # Text at the end of a full page, or None if the platform shows everything at once.
    MORE: str | None = "--More--"

    def __init__(self, switch, username):
        self.switch = switch
        self.username = username
        self.page_lines = 24  # 0: no paging

    def greeting(self) -> str:
        """Return the text before the first prompt."""
        return ""

    def prompt(self) -> str:
        """Return the prompt of the next line, for the state after the last one."""
        raise NotImplementedError

    def run(self, line: str) -> Reply:
        """Carry out one line that was typed; the caller holds the world's lock."""
        raise NotImplementedError

    def answer(self, text: str) -> Reply:
        """Handle the answer to a question."""
        raise NotImplementedError

    def left(self) -> None:
        """End the session, by either side: the platform decides whether uncommitted changes are lost."""
