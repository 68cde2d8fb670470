"""What the SSH server needs of an interactive command line: prompts, answers, questions, pages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reply:
    """What a line is answered with."""

    text: str = ""  # lines, each ended by \n
    ask: str | None = None  # a question; the next line that is typed goes to Dialogue.answer
    hidden: bool = False  # that what is typed is not echoed
    close: bool = False  # the switch ends the session


class Dialogue:
    """One session of a user at a command line."""

    # What stands at the end of a full page, or None where the platform shows everything at once.
    MORE: str | None = "--More--"

    def __init__(self, switch, username):
        self.switch = switch
        self.username = username
        self.page_lines = 24  # 0: no paging

    def greeting(self) -> str:
        """What is shown before the first prompt."""
        return ""

    def prompt(self) -> str:
        """What stands before the next line, as it is after the last one."""
        raise NotImplementedError

    def run(self, line: str) -> Reply:
        """Carry out one line that was typed; the caller holds the world's lock."""
        raise NotImplementedError

    def answer(self, text: str) -> Reply:
        """What was typed after a question."""
        raise NotImplementedError

    def left(self) -> None:
        """The session is over, by whomever: what is not committed is gone, or stays, as the platform has it."""
