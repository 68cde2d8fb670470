"""The grammar of a command line: which lines a mode knows, abbreviated or not, and at which word a line went wrong.

A pattern is words and places:  "?no qos map dscp <dscps:dscp>+ to traffic-class <tc:0-7>"
  word            a keyword, which may be abbreviated while no other one of its place begins so
  ?no             a keyword that may be missing; given to the handler under its name
  name=a|b        one of some keywords, given to the handler
  <name:type>     a place: a range of numbers, WORD, LINE (all that is left), or a type that the platform declares
  <name:type>+    one or more of them, as a list
  [ ... ]         a part that may be missing
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

_RANGE = re.compile(r"(\d+)-(\d+)$")


class Wrong(Exception):
    """A line that the mode does not know. kind: invalid, incomplete, ambiguous; at: the position of the word."""

    def __init__(self, kind, at, word=""):
        super().__init__(f"{kind} at {at}")
        self.kind, self.at, self.word = kind, at, word


@dataclass(frozen=True)
class _Element:
    kind: str  # keyword, choice, place
    words: tuple = ()
    name: str | None = None
    type: str = ""
    many: bool = False


@dataclass
class _State:
    """Progress of a rule on a line."""

    rule: object
    at: int = 0
    values: dict = field(default_factory=dict)
    due: int = 0  # the word that it goes on with: places may take several


@dataclass(frozen=True)
class _Rule:
    elements: tuple
    handler: object


class Grammar:
    """The lines of all modes. types: {name: f(tokens, at) -> (value, number of tokens) or None}."""

    def __init__(self, **types):
        self._types = types
        self._modes = {}

    def on(self, modes, *patterns):
        """Declare the handler of lines: handler(dialogue, **values). modes: names with blanks between them."""

        def register(handler):
            for mode in modes.split():
                for pattern in patterns:
                    self._modes.setdefault(mode, []).extend(_Rule(one, handler) for one in _expand(pattern.split()))
            return handler

        return register

    def match(self, modes, line):
        """Return (handler, values) of a line in the first of these modes that accepts it; Wrong if none does."""
        return self.find(modes, line)[:2]

    def find(self, modes, line):
        """The same, and the mode."""
        tokens = line.split()
        furthest = None
        for mode in modes:
            try:
                return (*self._match(mode, tokens), mode)
            except Wrong as wrong:
                if furthest is None or wrong.at > furthest.at:
                    furthest = wrong
        raise furthest

    def _match(self, mode, tokens):
        states = [_State(rule) for rule in self._modes.get(mode, [])]
        for at, token in enumerate(tokens):
            waiting = [one for one in states if one.due > at]
            ready = self._spread([one for one in states if one.due == at])
            found = self._step(ready, tokens, at, token)
            states = [*waiting, *found]
            if not states:
                raise Wrong("invalid", at, token)
        ends = [one for one in self._spread(states) if one.at == len(one.rule.elements) and one.due == len(tokens)]
        if not ends:
            raise Wrong("incomplete", len(tokens))
        return ends[0].rule.handler, ends[0].values

    @staticmethod
    def _spread(states):
        """A list that has one entry may go on, or be left."""
        found = list(states)
        for one in states:
            element = one.rule.elements[one.at] if one.at < len(one.rule.elements) else None
            if element is not None and element.many and one.values.get(element.name):
                found.append(replace(one, at=one.at + 1))
        return found

    def _step(self, states, tokens, at, token):
        exact, begun, places = [], [], []
        for one in states:
            if one.at >= len(one.rule.elements):
                continue
            element = one.rule.elements[one.at]
            if element.kind == "place":
                places += self._place(one, element, tokens, at)
                continue
            low = token.lower()
            for word in element.words:
                if word.lower().startswith(low):
                    values = {**one.values, element.name: word} if element.name else one.values
                    state = replace(one, at=one.at + 1, values=values, due=at + 1)
                    (exact if word.lower() == low else begun).append((word, state))
        if exact:
            return [state for _word, state in exact] + [one for one in places if one.due > at + 1]
        if len({word for word, _state in begun}) > 1 and not places:
            raise Wrong("ambiguous", at, token)
        if begun and not places:
            return [state for _word, state in begun]
        return places or [state for _word, state in begun]

    def _place(self, state, element, tokens, at):
        found = self._read(element.type, tokens, at)
        if found is None:
            return []
        value, count = found
        if element.many:
            values = {**state.values, element.name: [*state.values.get(element.name, ()), value]}
            return [replace(state, values=values, due=at + count)]
        return [replace(state, at=state.at + 1, values={**state.values, element.name: value}, due=at + count)]

    def _read(self, kind, tokens, at):
        if kind in self._types:
            return self._types[kind](tokens, at)
        if kind == "LINE":
            return " ".join(tokens[at:]), len(tokens) - at
        if kind == "WORD":
            return tokens[at], 1
        limits = _RANGE.match(kind)
        if limits and tokens[at].isdigit() and int(limits[1]) <= int(tokens[at]) <= int(limits[2]):
            return int(tokens[at]), 1
        return None


def _expand(words):
    """Return all sequences of elements that a pattern represents."""
    if not words:
        return [()]
    word, rest = words[0], words[1:]
    if word == "[":
        depth, end = 1, 0
        while depth:
            depth += {"[": 1, "]": -1}.get(rest[end], 0)
            end += 1
        tails = _expand(rest[end:])
        return [head + tail for head in [*_expand(rest[: end - 1]), ()] for tail in tails]
    tails = _expand(rest)
    if word.startswith("?"):
        optional = _Element("choice", (word[1:],), word[1:])
        return [*((optional, *tail) for tail in tails), *tails]
    return [(_element(word), *tail) for tail in tails]


def _element(word):
    if word.startswith("<"):
        name, _colon, kind = word.rstrip("+").strip("<>").partition(":")
        return _Element("place", name=name, type=kind, many=word.endswith("+"))
    name, equals, words = word.partition("=")
    if equals:
        return _Element("choice", tuple(words.split("|")), name)
    return _Element("keyword", (word,))
