"""Errors as the REST API writes them."""

from __future__ import annotations

# Status codes of com.vmware.vapi.std.errors.
STATUS = {
    "ALREADY_EXISTS": 400,
    "ALREADY_IN_DESIRED_STATE": 400,
    "INVALID_ARGUMENT": 400,
    "INVALID_ELEMENT_CONFIGURATION": 400,
    "INVALID_ELEMENT_TYPE": 400,
    "NOT_ALLOWED_IN_CURRENT_STATE": 400,
    "RESOURCE_BUSY": 500,
    "RESOURCE_INACCESSIBLE": 400,
    "RESOURCE_IN_USE": 400,
    "SERVICE_UNAVAILABLE": 503,
    "UNABLE_TO_ALLOCATE_RESOURCE": 500,
    "UNAUTHENTICATED": 401,
    "UNAUTHORIZED": 403,
    "NOT_FOUND": 404,
    "UNSUPPORTED": 400,
    "ERROR": 500,
}


class RestError(Exception):
    """An error of the API with its messages."""

    def __init__(self, kind, *texts, status=None, code="com.vmware.twin.error", args=()):
        self.kind = kind
        self.texts = texts
        self.status = status or STATUS[kind]
        self.code = code
        self._messages = [message(text, code, args if text is texts[0] else ()) for text in texts]
        super().__init__(f"{kind}: {' '.join(texts)}")

    @property
    def body(self):
        """The error as it is sent, and as a failed task holds it."""
        return {"error_type": self.kind, "messages": self._messages}

    def add_above(self, text, code, args=()):
        """Add a message about the operation above those of its cause."""
        self._messages.insert(0, message(text, code, args))


def message(text, code="com.vmware.twin.message", args=()):
    """A localizable message."""
    return {"id": code, "default_message": text, "args": list(args)}
