"""A person or a program at a terminal: keys come one by one, are echoed, and make lines; answers come in pages."""

from __future__ import annotations

import contextlib

import asyncssh

ENTER, ERASE, KILL, INTERRUPT, LEAVE, END = "\r\n", "\x7f\b", "\x15", "\x03", "\x04", "\x1a"
_DISTURBANCES = (asyncssh.TerminalSizeChanged, asyncssh.BreakReceived, asyncssh.SignalReceived)


class Keys:
    """Typed keys. echo: a function that writes to the terminal, or None if there is none."""

    def __init__(self, stdin, echo):
        self._stdin, self._echo = stdin, echo
        self._ahead, self._last = "", ""

    async def key(self):
        """Return the next key, or None at the end of the input."""
        while not self._ahead:
            try:
                self._ahead = await self._stdin.read(4096)
            except _DISTURBANCES:
                continue
            if not self._ahead:
                return None
        found, self._ahead = self._ahead[0], self._ahead[1:]
        previous, self._last = self._last, found
        return await self.key() if (previous, found) == ("\r", "\n") else found

    async def line(self, hidden=False):
        """The next line without its end; None at the end of all input."""
        text = ""
        while (key := await self.key()) is not None:
            if key in ENTER:
                self._show("\r\n")
                return text
            if key in ERASE:
                if text and not hidden:
                    self._show("\b \b")
                text = text[:-1]
            elif key == KILL:
                self._show("\b \b" * len(text))
                text = ""
            elif key == INTERRUPT:
                self._show("^C\r\n")
                return ""
            elif key == LEAVE:
                if not text:
                    return None
            elif key == END:
                self._show("^Z\r\n")
                return "end"
            elif key == "\t" or key.isprintable():
                text += key
                if not hidden:
                    self._show(key)
        return text or None

    def _show(self, text):
        if self._echo is not None:
            self._echo(text)


async def converse(process, dialogue, typed):
    """Talk until one side has enough. typed: coroutine of (text, whether it answers a question) -> (reply, prompt)."""
    on_terminal = process.get_terminal_type() is not None

    def write(text):
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            process.stdout.write(text)

    keys = Keys(process.stdin, write if on_terminal else None)
    write(_lines(dialogue.greeting()))
    prompt = dialogue.prompt()
    while True:
        write(prompt)
        line = await keys.line()
        if line is None:
            return
        if not line.strip():
            continue
        reply, prompt = await typed(line, False)
        while True:
            if not await _pages(dialogue, reply.text, keys, write, on_terminal) or reply.close:
                return
            if reply.ask is None:
                break
            write(_lines(reply.ask))
            given = await keys.line(reply.hidden)
            if given is None:
                return
            reply, prompt = await typed(given, True)


async def _pages(dialogue, text, keys, write, on_terminal):
    """Show text, page by page where the platform does so; False when the other side is gone."""
    lines = text.splitlines()
    if not on_terminal or not dialogue.page_lines or dialogue.MORE is None:
        write(_lines(text))
        return True
    room = dialogue.page_lines - 1
    while len(lines) > room:
        write("".join(f"{line}\r\n" for line in lines[:room]))
        lines = lines[room:]
        write(dialogue.MORE)
        room = None
        while room is None:
            key = await keys.key()
            if key is None:
                return False
            room = {" ": dialogue.page_lines - 1, "\r": 1, "\n": 1, "q": 0, "Q": 0, INTERRUPT: 0}.get(key)
        # The prompt for the next page does not stay between the lines.
        write("\r" + " " * len(dialogue.MORE) + "\r")
        if not room:
            return True
    write("".join(f"{line}\r\n" for line in lines))
    return True


def _lines(text):
    return text.replace("\n", "\r\n")
