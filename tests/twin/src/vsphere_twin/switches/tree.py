"""Configuration as a tree: sections with lines that are found by their setting, not by their text."""

from __future__ import annotations

import copy
import difflib
import itertools
import re


class Section:
    """Lines {key: (line, value)} and sections {key: (header, Section)} inside. Keys are tuples or texts."""

    def __init__(self):
        self.lines: dict = {}
        self.sections: dict = {}

    def set(self, key, line, value=True):
        """Set a line, replacing the one with the same key."""
        self.lines[key] = (line, value)

    def drop(self, key):
        """Take a line away; whether there was one."""
        return self.lines.pop(key, None) is not None

    def get(self, key, default=None):
        """The value of a line."""
        return self.lines[key][1] if key in self.lines else default

    def keyed(self, first):
        """{rest of the key: value} of the lines whose key is a tuple that begins so."""
        return {
            key[1]: value for key, (_line, value) in self.lines.items() if isinstance(key, tuple) and key[0] == first
        }

    def section(self, key, header=None):
        """The section of this key, made if need be."""
        if key not in self.sections:
            self.sections[key] = (header if header is not None else str(key), Section())
        return self.sections[key][1]

    def find(self, key):
        """The section of this key, or None."""
        return self.sections[key][1] if key in self.sections else None

    def remove(self, key):
        """Take a section away; whether there was one."""
        return self.sections.pop(key, None) is not None

    def kept(self, first):
        """{name: Section} of the sections whose key is (first, name)."""
        return {
            key[1]: section
            for key, (_header, section) in self.sections.items()
            if isinstance(key, tuple) and key[0] == first
        }

    def copy(self):
        """The same again, of its own."""
        return copy.deepcopy(self)


def differences(before, after):
    """A unified diff of two lists of lines, with the whole section around each change."""
    return list(difflib.unified_diff(before, after, lineterm="", n=3))


def pipe(text, filters):
    """Apply `| include X`, `| exclude`, `| begin`, `| section`, `| count` to a text; None: unknown."""
    for words in filters:
        kind = next((one for one in _FILTERS if one.startswith(words[0].lower())), None) if words else None
        if kind is None:
            return None
        text = _FILTERS[kind](text.splitlines(), " ".join(words[1:]).strip('"'))
    return text


def _said(wanted):
    """Compile a pattern; an invalid regular expression is searched as plain text."""
    try:
        return re.compile(wanted).search
    except re.error:
        return re.compile(re.escape(wanted)).search


def _section(lines, wanted):
    """Return sections whose header, or one of whose lines, matches."""
    blocks, said = [], _said(wanted)
    for line in lines:
        if line[:1] in (" ", "\t") and blocks:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return _joined(line for block in blocks if any(said(one) for one in block) for line in block)


def _begin(lines, wanted):
    said = _said(wanted)
    at = next((number for number, line in enumerate(lines) if said(line)), len(lines))
    return _joined(lines[at:])


def _joined(lines):
    return "".join(f"{line}\n" for line in lines)


_FILTERS = {
    "include": lambda lines, wanted: _joined(filter(_said(wanted), lines)),
    "exclude": lambda lines, wanted: _joined(itertools.filterfalse(_said(wanted), lines)),
    "grep": lambda lines, wanted: _joined(filter(_said(wanted), lines)),
    "begin": _begin,
    "section": _section,
    "count": lambda lines, wanted: f"{len(lines)}\n",
    "no-more": lambda lines, wanted: _joined(lines),
}
