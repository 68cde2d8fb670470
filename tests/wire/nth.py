"""Something that happens at the nth request, and only then."""

from __future__ import annotations


class Nth:
    """An action for the nth request; it happens once."""

    def __init__(self, number, action):
        self._left = number
        self._action = action

    @property
    def happened(self):
        return self._left <= 0

    def __call__(self, *_request):
        self._left -= 1
        return self._left == 0 and self._action()
