"""A request for a resource, and an answer."""

from __future__ import annotations

import dataclasses
import json

import yaml

from . import access, kinds, protobuf
from .refused import Refused

_BODIES = ("application/json", "application/yaml")


@dataclasses.dataclass
class Answer:
    """A response; a stream is an iterator of JSON objects instead of a body."""

    status: int
    body: object = None
    headers: dict = dataclasses.field(default_factory=dict)
    content_type: str = "application/json"
    stream: object = None


@dataclasses.dataclass
class Request:
    """A request for a resource."""

    method: str
    kind: kinds.Kind
    namespace: str
    name: str
    subresource: str
    query: dict
    headers: dict
    raw: bytes
    user: access.User
    warnings: list = dataclasses.field(default_factory=list)

    def flag(self, name):
        """A flag of the query: false only if it is absent, false or 0."""
        return name in self.query and self.query[name].casefold() not in ("false", "0")

    @property
    def dry_run(self):
        return bool(self.query.get("dryRun"))

    @property
    def content_type(self):
        return self.headers.get("Content-Type", "application/json").partition(";")[0].strip()

    @property
    def manager(self):
        agent = self.headers.get("User-Agent") or "unknown"
        return self.query.get("fieldManager") or agent.partition("/")[0][:128]

    def parsed(self):
        """The body as an object; JSON is YAML."""
        kind = self.content_type
        # Custom resources have no protobuf form; the options of a deletion have.
        bodies = _BODIES if self.kind.custom and self.method != "DELETE" else (*_BODIES, protobuf.TYPE)
        if kind not in bodies and self.method != "PATCH":
            text = "the body of the request was in an unknown format - accepted media types include: "
            raise Refused(415, text + ", ".join(bodies))
        if kind == protobuf.TYPE:
            try:
                return protobuf.decoded(self.raw)
            except ValueError as error:
                raise Refused(400, str(error)) from None
        try:
            found = yaml.safe_load(self.raw) if "yaml" in kind else json.loads(self.raw or b"null")
        except (ValueError, yaml.YAMLError) as error:
            raise Refused(400, f"couldn't get version/kind; json parse error: {error}") from None
        return found
