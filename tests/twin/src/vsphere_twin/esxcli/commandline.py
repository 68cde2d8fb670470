"""esxcli as a program: words in, text and an exit code out."""

from __future__ import annotations

from .command import Refused, Unknown, run, table, typed
from .text import FORMATTERS, show


class _Usage(Exception):
    pass


def main(world, host, words):
    """(standard output, exit code) of esxcli with these words."""
    try:
        formatter, words = _global_options(list(words))
        name, rest = _find(words)
        if name is None:
            return _listing(words), 1 if words else 0
        command = table()[name]
        if any(word in ("--help", "-h", "-?") for word in rest):
            return _usage(command), 0
        arguments = _arguments(command, rest)
        return show(run(world, host, name, arguments), formatter), 0
    except _Usage as problem:
        return f"{problem}\n", 1
    except Unknown as problem:
        return f"Error: Unknown command or namespace {problem}\n", 1
    except Refused as problem:
        return "".join(f" {line}\n" for line in problem.lines), 1


def _global_options(words):
    """The formatter, and the words without the options before the command."""
    formatter = None
    while words and words[0].startswith("-"):
        option, _equals, value = words.pop(0).partition("=")
        if option not in ("--formatter", "--format-param"):
            raise _Usage(f"Error: Invalid option {option}")
        if not _equals:
            if not words:
                raise _Usage(f"Error: Option {option} needs a value.")
            value = words.pop(0)
        if option == "--formatter":
            if value not in FORMATTERS:
                raise _Usage(f"Error: Unknown formatter {value}")
            formatter = value
    return formatter, words


def _find(words):
    """Return the command at the head of the words, and the words after it."""
    for end in range(len(words), 0, -1):
        name = ".".join(words[:end])
        if name in table():
            return name, words[end:]
    return None, words


def _listing(words):
    """Return the content of a namespace; Unknown if it does not exist."""
    path = [word for word in words if not word.startswith("-")]
    prefix = "".join(f"{word}." for word in path)
    below = sorted({name[len(prefix) :].partition(".")[0] for name in table() if name.startswith(prefix)})
    if not below:
        raise Unknown(" ".join(path))
    return "Available Commands and Namespaces:\n" + "".join(f"  {name}\n" for name in below)


def _usage(command):
    lines = [
        f"Usage: esxcli {command.name.replace('.', ' ')} [cmd options]",
        "",
        "Description:",
        f"  {command.help}",
        "",
    ]
    lines.append("Cmd options:")
    lines += [f"  {one.option}" + ("" if one.flag else f"=<{one.type}>") for one in command.arguments]
    return "\n".join(lines) + "\n"


def _arguments(command, words):
    by_option = {}
    for one in command.arguments:
        by_option[f"--{one.long}"] = one
        if one.short:
            by_option[f"-{one.short}"] = one
    given = {}
    words = list(words)
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        if not option.startswith("--") and option[:2] in by_option and len(option) > 2:
            option, value, equals = option[:2], word[2:].removeprefix("="), "="
        found = by_option.get(option)
        if found is None:
            raise _Usage(f"Error: Invalid option {option}\n\n{_usage(command)}".rstrip())
        if found.flag:
            if equals:
                raise _Usage(f"Error: Invalid option {word}\n\n{_usage(command)}".rstrip())
            value = "true"
        elif not equals:
            if not words:
                raise _Usage(f"Error: Missing value for option {option}\n\n{_usage(command)}".rstrip())
            value = words.pop(0)
        given.setdefault(found.name, (found, []))[1].append(value)
    for one in command.arguments:
        if one.required and one.name not in given:
            raise _Usage(f"Error: Missing required parameter {one.option}\n\n{_usage(command)}".rstrip())
    return {name: typed(found, texts) for name, (found, texts) in given.items()}
