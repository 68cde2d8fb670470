"""Command lines as click takes them apart, with its complaints."""

from __future__ import annotations

from dataclasses import dataclass, field


class Misused(Exception):
    """A wrong command line: usage and error, exit status 2."""

    def __init__(self, path, text, arguments="[OPTIONS] COMMAND [ARGS]..."):
        super().__init__(text)
        usage = f'Usage: {" ".join(path)} {arguments}\nTry "{" ".join(path)} -h" for help.\n\nError: {text}\n'
        self.usage = usage


class Failed(Exception):
    """A command that ends with a status of its own."""

    def __init__(self, stdout="", stderr="", rc=1):
        super().__init__(stderr or stdout)
        self.stdout, self.stderr, self.rc = stdout, stderr, rc


@dataclass
class Command:
    """One command: options as {flag: name}, the options with a value, and the number of its words."""

    run: object
    valued: dict = field(default_factory=dict)
    flags: dict = field(default_factory=dict)
    least: int = 0
    most: int = 0
    arguments: str = ""


def find(tree, path, words):
    """(command, its path, the words that are left) in a tree of groups; prefixes that fit one command do."""
    while isinstance(tree, dict):
        word = next((one for one in words if not one.startswith("-")), None)
        if word is None:
            raise Misused(path, "Missing command.")
        words = words[words.index(word) + 1 :]
        found = [word] if word in tree else [name for name in tree if name.startswith(word)]
        if not found:
            raise Misused(path, f'No such command "{word}".')
        if len(found) > 1:
            raise Misused(path, f"Too many matches: {', '.join(sorted(found))}")
        path, tree = [*path, found[0]], tree[found[0]]
    return tree, path, words


def parse(command, path, words):
    """(arguments, options) of a command."""
    given, arguments, words = {}, [], list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            arguments += words
            break
        if name in command.valued:
            if not equals and not words:
                raise Misused(path, f"{name} option requires an argument", command.arguments)
            given[command.valued[name]] = value if equals else words.pop(0)
        elif word in command.flags:
            given[command.flags[word]] = True
        elif word.startswith("-") and not word[1:].isdigit() and len(word) > 1:
            raise Misused(path, f"no such option: {word}", command.arguments)
        else:
            arguments.append(word)
    if len(arguments) < command.least:
        raise Misused(path, "Missing argument.", command.arguments)
    if len(arguments) > command.most:
        extra = " ".join(arguments[command.most :])
        raise Misused(path, f"Got unexpected extra argument{'s' if ' ' in extra else ''} ({extra})", command.arguments)
    return arguments, given


def choice(path, name, value, words):
    """Require one of a few words."""
    if value not in words:
        raise Misused(path, f'Invalid value for "{name}": invalid choice: {value}. (choose from {", ".join(words)})')
    return value


def integer(path, name, value, least=0, most=2**32):
    """A number of a range."""
    if not value.lstrip("-").isdigit():
        raise Misused(path, f'Invalid value for "{name}": {value} is not a valid integer')
    if not least <= int(value) <= most:
        raise Misused(path, f'Invalid value for "{name}": {value} is not in the valid range of {least} to {most}.')
    return int(value)
