"""A request that the API rejects: its status and its body."""

from __future__ import annotations


class Refused(Exception):
    """The answer to a rejected request."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body

    @classmethod
    def of(cls, name, text):
        """A field whose value is rejected."""
        return cls(400, {name: [text]})

    @classmethod
    def detail(cls, status, text):
        return cls(status, {"detail": text})
