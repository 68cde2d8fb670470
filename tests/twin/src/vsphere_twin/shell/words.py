"""The language of the shell, as far as clients speak it: words, quotes, lists, pipes, and a few redirections."""

from __future__ import annotations

from dataclasses import dataclass, field

OPERATORS = ("&&", "||", "2>&1", "2>", ">>", ">", "<", ";", "|", "(", ")", "\n")
CONTROL = ("&&", "||", ";", "|", "(", ")", "\n")
# Unsupported words of the language; a line with one must fail as a whole, and not half-way.
NOT_SPOKEN = ("if", "then", "for", "while", "until", "do", "case", "function", "{", "!")
_REDIRECTIONS = ("2>", ">", ">>", "<")


class BadSyntax(Exception):
    """Syntax error of the shell; the text is busybox's."""


@dataclass
class Part:
    """A piece of a word; single quotes disable all expansions in it."""

    text: str
    literal: bool = False
    quoted: bool = False


@dataclass
class Word:
    """One word before the expansion of variables."""

    parts: list = field(default_factory=list)

    def plain(self):
        """Its text as it was written, without the quotes."""
        return "".join(part.text for part in self.parts)


@dataclass
class Simple:
    """One command: its words, its variable assignments, and the target of its output."""

    words: list = field(default_factory=list)
    redirects: list = field(default_factory=list)  # (operator, target word or None)


@dataclass
class Group:
    """A list in parentheses."""

    body: list


def parse(text):
    """A list of (joiner, pipeline): the joiner says when it runs after the one before: ';', '&&' or '||'."""
    tokens = _tokens(text)
    program, rest = _list(tokens, 0)
    if rest < len(tokens):
        raise BadSyntax(f'syntax error: unexpected "{tokens[rest]}"')
    return program


def _list(tokens, at):
    program, joiner = [], ";"
    while at < len(tokens) and tokens[at] != ")":
        if tokens[at] in (";", "\n"):
            if not program and tokens[at] == ";":
                raise BadSyntax('syntax error: unexpected ";"')
            joiner, at = ";", at + 1
            continue
        if tokens[at] in ("&&", "||"):
            if not program:
                raise BadSyntax(f'syntax error: unexpected "{tokens[at]}"')
            joiner, at = tokens[at], at + 1
            if at >= len(tokens) or isinstance(tokens[at], str):
                _expect_command(tokens, at)
        pipeline, at = _pipeline(tokens, at)
        program.append((joiner, pipeline))
        joiner = ";"
        if at < len(tokens) and tokens[at] not in (*CONTROL,):
            raise BadSyntax(f'syntax error: unexpected "{_name(tokens[at])}"')
    return program, at


def _pipeline(tokens, at):
    stages = []
    while True:
        stage, at = _command(tokens, at)
        stages.append(stage)
        if at < len(tokens) and tokens[at] == "|":
            at += 1
            _expect_command(tokens, at)
            continue
        return stages, at


def _command(tokens, at):
    if at < len(tokens) and tokens[at] == "(":
        body, at = _list(tokens, at + 1)
        if at >= len(tokens):
            raise BadSyntax('syntax error: unexpected end of file (expecting ")")')
        return Group(body), at + 1
    simple = Simple()
    while at < len(tokens) and tokens[at] not in CONTROL:
        token = tokens[at]
        at += 1
        if token == "2>&1":
            simple.redirects.append((token, None))
        elif token in _REDIRECTIONS:
            if at >= len(tokens) or isinstance(tokens[at], str):
                raise BadSyntax("syntax error: unexpected newline")
            simple.redirects.append((token, tokens[at]))
            at += 1
        else:
            simple.words.append(token)
    if not simple.words and not simple.redirects:
        _expect_command(tokens, at)
    if simple.words and simple.words[0].plain() in NOT_SPOKEN:
        raise BadSyntax(f'syntax error: the shell of the twin has no "{simple.words[0].plain()}"')
    return simple, at


def _expect_command(tokens, at):
    if at >= len(tokens):
        raise BadSyntax("syntax error: unexpected end of file")
    if isinstance(tokens[at], str) and tokens[at] != "(":
        raise BadSyntax(f'syntax error: unexpected "{_name(tokens[at])}"')


def _name(token):
    if isinstance(token, Word):
        return token.plain()
    return "newline" if token == "\n" else token


def _tokens(text):
    """Operators as texts, words as Word."""
    tokens, at = [], 0
    while at < len(text):
        char = text[at]
        if char in " \t\r":
            at += 1
        elif char == "#":
            at = (text.find("\n", at) + len(text) + 1) % (len(text) + 1)
        else:
            operator = next((one for one in OPERATORS if text.startswith(one, at)), None)
            if operator:
                tokens.append(operator)
                at += len(operator)
            elif char in "&`":
                raise BadSyntax(f'syntax error: unexpected "{char}"')
            else:
                word, at = _word(text, at)
                tokens.append(word)
    return tokens


def _word(text, at):
    word = Word()
    while at < len(text) and text[at] not in " \t\r\n;|()<>&":
        char = text[at]
        if char == "'":
            end = _closing(text, at, "'")
            word.parts.append(Part(text[at + 1 : end], literal=True, quoted=True))
            at = end + 1
        elif char == '"':
            part, at = _double_quoted(text, at)
            word.parts.append(part)
        elif char == "\\":
            word.parts.append(Part(text[at + 1 : at + 2], literal=True, quoted=True))
            at += 2
        elif char == "`":
            raise BadSyntax('syntax error: unexpected "`"')
        else:
            start = at
            while at < len(text) and text[at] not in " \t\r\n;|()<>&'\"\\`":
                at += 1
            word.parts.append(Part(text[start:at]))
    return word, at


def _double_quoted(text, at):
    out, at = [], at + 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            # A dollar sign that was escaped must not begin a variable later on.
            out.append("\0" if text[at + 1] == "$" else text[at + 1])
            at += 2
        else:
            out.append(text[at])
            at += 1
    if at >= len(text):
        raise BadSyntax("syntax error: unterminated quoted string")
    return Part("".join(out), quoted=True), at + 1


def _closing(text, at, quote):
    end = text.find(quote, at + 1)
    if end < 0:
        raise BadSyntax("syntax error: unterminated quoted string")
    return end
