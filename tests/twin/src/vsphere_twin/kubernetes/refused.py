"""A request that the API server rejects, as a Status object in the server's words."""

from __future__ import annotations

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    500: "InternalError",
}


class Refused(Exception):
    """The answer to a rejected request."""

    def __init__(self, code, message, reason=None, details=None):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.details = code, message, details
        self.reason = REASONS.get(code) if reason is None else reason

    @property
    def body(self):
        """The Status object."""
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message}
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


class NoPage(Refused):
    """An answer in plain text."""

    @property
    def body(self):
        return f"{self.message}\n".encode()


def not_found(kind, name):
    return Refused(404, f'{kind.resource} "{name}" not found', details=_details(kind, name))


def exists(kind, name, deleting=False):
    text = f'{"object is being deleted: " if deleting else ""}{kind.resource} "{name}" already exists'
    return Refused(409, text, "AlreadyExists", _details(kind, name))


def modified(kind, name):
    text = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(kind, name, text)


def conflict(kind, name, text):
    text = f'Operation cannot be fulfilled on {kind.resource} "{name}": {text}'
    return Refused(409, text, details=_details(kind, name))


def precondition(kind, name, text):
    """A deletion whose preconditions do not hold; the server names the kind, not the resource."""
    full = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    details = {**_details(kind, name), "kind": kind.kind}
    return Refused(409, f'Operation cannot be fulfilled on {full} "{name}": {text}', details=details)


def forbidden(kind, name, text):
    return Refused(403, f'{kind.resource} "{name}" is forbidden: {text}', details=_details(kind, name))


def invalid(kind, name, problems):
    """Problems are (reason, field, text) rows."""
    return invalid_as(kind.kind, kind.group, name, problems)


def invalid_as(kind, group, name, problems):
    """As invalid(), for the name of a kind that is not stored, such as options."""
    rows = [f"{field}: {text}" if field else text for _reason, field, text in problems]
    text = rows[0] if len(rows) == 1 else f"[{', '.join(rows)}]"
    causes = [{"reason": reason, "message": text, "field": field} for reason, field, text in problems]
    full = f"{kind}.{group}" if group else kind
    details = {"name": name, "group": group, "kind": kind, "causes": causes}
    return Refused(422, f'{full} "{name}" is invalid: {text}', details={k: v for k, v in details.items() if v})


def nameless(name):
    """An object of an update that has no name."""
    text = f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
    return Refused(400, text)


def undecodable(kind, text):
    """A body that does not fit the kind, for example an unknown field with strict validation."""
    return Refused(400, f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {text}')


def no_resource():
    return Refused(404, "the server could not find the requested resource", details={})


def no_page():
    """A path outside the API groups."""
    return NoPage(404, "404 page not found", details={})


def no_method():
    return Refused(405, "the server does not allow this method on the requested resource", details={})


def internal(error):
    """An error of the server itself."""
    text = f"{type(error).__name__}: {error}"
    return Refused(500, f"Internal error occurred: {text}", details={"causes": [{"message": text}]})


def _details(kind, name):
    found = {"name": name, "group": kind.group, "kind": kind.plural}
    return {key: value for key, value in found.items() if value}
