"""From a REST request to an answer: sessions, routes, errors in the API's own form."""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import urllib.parse
import zlib
from dataclasses import dataclass, field

from pyVmomi import vim

from ..https import basic_credentials
from ..model.sso import LARGEST
from .errors import RestError
from .stamps import stamp

LOG = logging.getLogger(__name__)
# Types of fields, where all requests agree on one; vCenter refuses others before it reads the request.
FIELDS = {
    **dict.fromkeys(("category_id", "cluster", "description", "library_id", "message", "name", "type"), str),
    **dict.fromkeys(("associable_types", "components_to_delete", "object_ids", "storage_backings", "tag_ids"), list),
    **dict.fromkeys(("components_to_set", "target", "deployment_spec", "object_id", "checksum_info"), dict),
    **dict.fromkeys(("library_item_id", "file_name", "source_type"), str),
    **dict.fromkeys(("client_progress", "size"), int),
}
ELEMENTS = {
    **dict.fromkeys(("associable_types", "components_to_delete", "tag_ids"), str),
    **dict.fromkeys(("object_ids", "storage_backings"), dict),
}
TOKEN = "vmware-api-session-id"
OLD_SESSION = "/rest/com/vmware/cis/session"  # of before 7.0 Update 2; clients still log in there
WRAPPERS = (
    *("create_spec", "update_spec", "spec", "deployment_spec", "destination_create_spec"),
    *("file_spec", "source_endpoint"),
)
MAPS = ("disks", "nics", "cdroms", "floppies", "parallel_ports", "serial_ports")
MAPS += ("sata_adapters", "scsi_adapters", "nvme_adapters")
# Operations that the older form has in the path, and the newer one in the parameter action.
_IN_PATH = re.compile(
    r"(/api/vcenter/(?:vm/[^/]+/power|host/[^/]+|vm/[^/]+/hardware|vm/[^/]+/hardware/[a-z]+/[^/]+))(?:/action)?"
    r"/(start|stop|suspend|reset|connect|disconnect|upgrade)"
)
_CHOOSING = ("action", "vmw-task")  # parameters that choose an operation of a path
ROUTES = []
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # characters that XML cannot have
_SIGN = re.compile(r'SIGN token="([A-Za-z0-9+/=]+)"', re.I)


@dataclass
class Answer:
    """Response to a client."""

    status: int
    data: bytes = b""
    headers: dict = field(default_factory=dict)
    lost: bool = False  # the work is done, and the connection closes without an answer: a planned fault


class Query(dict):
    """The parameters of a request: the last value of each; lists has all values."""

    def __init__(self, lists):
        super().__init__({name: values[-1] for name, values in lists.items()})
        self.lists = lists


@dataclass
class Request:
    """One request of a logged-in user."""

    world: object
    session: object
    query: Query
    body: dict
    host: str = ""  # name and port by which the client reaches the server
    outside: object = None  # outside(work, then): work without the world's lock, then with it, with its result

    @property
    def user(self):
        return self.session.user


@dataclass(frozen=True)
class Created:
    """A result that is answered with 201."""

    value: object


@dataclass(frozen=True)
class Begun:
    """A task that was started: 202 and its identifier."""

    task: str


def route(method, template, **query):
    """Register the function for a path with {names} and for these query parameters."""
    pattern = re.compile("^" + re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", template) + "$")

    def register(function):
        ROUTES.append(
            (method, template, pattern, {name.replace("_", "-"): one for name, one in query.items()}, function)
        )
        # A path without names is no item of that name, and a parameter names another operation of a path.
        ROUTES.sort(key=lambda one: (one[1].count("{"), -len(one[3])))
        return function

    return register


class Api:
    """The REST API of one vCenter."""

    def __init__(self, dispatcher):
        self._dispatcher = dispatcher
        self._world = dispatcher.world

    def handle(self, method, address, headers, data=b"", client=None):
        """Answer one request."""
        parts = urllib.parse.urlsplit(address)
        path = urllib.parse.unquote(parts.path).rstrip("/")
        query = Query(urllib.parse.parse_qs(parts.query))
        if path.startswith("/rest/") and path != OLD_SESSION:
            query = Query(_new_names(query.lists))
            try:
                data = _unwrapped(data)
            except RestError as problem:
                return _old_answer(Answer(problem.status, _json(problem.body)))
            path = _new_path(path)
            inside = _IN_PATH.fullmatch(path) if method == "POST" else None
            if inside is not None:
                path, query = inside[1], Query({**query.lists, "action": [inside[2]]})
            return _old_answer(self.respond(method, path, query, headers, data, client))
        return self.respond(method, path, query, headers, data, client)

    def respond(self, method, path, query, headers, data, client):
        """Answer a request whose path is one since 7.0 Update 2."""
        errands = []
        with self._world.lock:
            try:
                if path == "/api/session":
                    return self._session(method, headers, client)
                if path == OLD_SESSION:
                    return self._old_session(method, query, headers, client)
                answer = self._serve(method, path, query, headers, data, errands)
            except RestError as problem:
                return Answer(problem.status, _json(problem.body))
            except Exception:  # a defect of the twin: clients get an answer, and the log says where it is
                LOG.exception("%s %s fails.", method, path)
                return Answer(500, _json(RestError("ERROR", "The twin failed; its log says where.").body))
        for work, then in errands:
            result = work()
            with self._world.lock:
                then(result)
        return answer

    def _session(self, method, headers, client):
        self._dispatcher.requests[f"{method} /api/session"] += 1
        if method == "POST":
            try:
                session = self._new_session(headers, client)
            except vim.fault.InvalidLogin as fault:
                raise RestError("UNAUTHENTICATED", "Authentication required.") from fault
            session.face = "api"
            return Answer(201, _json(session.key), {TOKEN: session.key})
        session = self._logged_in(headers)
        if method == "GET":
            times = {"created_time": session.login_time, "last_accessed_time": session.active_time}
            return Answer(200, _json({"user": session.user, **{name: stamp(one) for name, one in times.items()}}))
        if method == "DELETE":
            self._dispatcher.sessions.end(session)
            return Answer(204)
        raise RestError("OPERATION_NOT_FOUND", "The method is not known here.", status=405)

    def _new_session(self, headers, client):
        """GOVC sts.Signer.SignRequest: SIGN token="..." has a gzipped assertion in base64; Basic is a password."""
        token = _SIGN.fullmatch(headers.get("Authorization") or "")
        if token is None:
            user, password = basic_credentials(headers)
            return self._dispatcher.sessions.login(user, password, client)
        return self._dispatcher.sessions.login_by_token(_unpacked(token[1]), client)

    def _old_session(self, method, query, headers, client):
        if query.get("~action") == "get":  # Go clients ask so whether their session still lives
            method = "GET"
        answer = self._session(method, headers, client)
        value = json.loads(answer.data) if answer.data else None
        return Answer(200, _json({"value": value}), answer.headers)

    def _serve(self, method, path, query, headers, data, errands):
        session = self._logged_in(headers)
        for verb, template, pattern, wanted, function in ROUTES:
            found = pattern.match(path)
            if verb == method and found and all(query.get(name) == wanted.get(name) for name in {*wanted, *_CHOOSING}):
                counted = _counted(method, template, wanted)
                self._dispatcher.requests[counted] += 1
                host, later = headers.get("Host", ""), lambda *one: errands.append(one)
                request = Request(self._world, session, query, _parsed(data), host, later)
                answer = _answer(function(request, **found.groupdict()))
                answer.lost = self._world.faults.take_closing(counted)
                return answer
        what = f"{method} {path}"
        self.unserved(what)
        raise RestError("OPERATION_NOT_FOUND", f"The twin has no {what}.", status=404)

    def unserved(self, what):
        """Count a request that the twin does not serve."""
        self._dispatcher.unserved[what] += 1
        LOG.warning("No one serves %s.", what)

    def authenticate(self, headers):
        """Raise UNAUTHENTICATED for a request without a session."""
        with self._world.lock:
            self._logged_in(headers)

    def _logged_in(self, headers):
        session = self._dispatcher.sessions.get(headers.get(TOKEN), face="api")
        if session is None:
            raise RestError("UNAUTHENTICATED", "Authentication required.")
        session.used()
        return session


def _unpacked(text):
    """The assertion; nothing for text that is none, or that would grow without bounds."""
    try:
        unpack = zlib.decompressobj(wbits=31)
        data = unpack.decompress(base64.b64decode(text, validate=True), LARGEST)
    except (binascii.Error, zlib.error):
        return b""
    return b"" if unpack.unconsumed_tail or not unpack.eof else data


def _new_path(path):
    """The path since 7.0 Update 2 of an older one: /rest/com/vmware/content/library/id:x is /api/content/library/x."""
    return path.replace("/rest/com/vmware/", "/api/").replace("/rest/", "/api/").replace("/id:", "/")


def _new_names(lists):
    """The parameters of a query since 7.0 Update 2: ~action, filter.names and filter.names.1 are action and names."""
    found = {}
    for name, values in lists.items():
        new = re.sub(r"^~|^filter\.|\.\d+$", "", name)
        found[new] = [*found.get(new, []), *values]
    return found


def _unwrapped(data):
    """The body without the names of its parameters, which the older form has around it."""
    body = _parsed(data)
    inside = unwrapped(body)
    return data if inside is body else json.dumps(inside).encode()


def unwrapped(body):
    """The specification that is the only parameter of a body, or the body."""
    name = next(iter(body), None)
    return body[name] if len(body) == 1 and name in WRAPPERS and isinstance(body[name], dict) else body


def _old_answer(answer):
    """The older form of an answer: the value has a name, and so has an error's type."""
    if answer.lost or not answer.data:
        return Answer(200 if answer.status < 300 else answer.status, b"", answer.headers, answer.lost)
    value = json.loads(answer.data)
    if answer.status < 300:
        return Answer(200, _json({"value": _old_maps(value)}), answer.headers)
    kind = f"com.vmware.vapi.std.errors.{value['error_type'].lower()}"
    return Answer(answer.status, _json({"type": kind, "value": {"messages": value["messages"]}}), answer.headers)


def _old_maps(value):
    """Maps by their keys are lists of keys and values there."""
    if isinstance(value, list):
        return [_old_maps(one) for one in value]
    if not isinstance(value, dict):
        return value
    shown = {name: _old_maps(one) for name, one in value.items()}
    for name in MAPS:
        if isinstance(value.get(name), dict):
            shown[name] = [{"key": key, "value": one} for key, one in shown[name].items()]
    return shown


def _answer(result):
    if isinstance(result, Begun):
        return Answer(202, _json(result.task))
    if isinstance(result, Created):
        return Answer(201, _json(result.value))
    if result is None:
        return Answer(204)
    return Answer(200, _json(result))


def _counted(method, template, query):
    suffix = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{method} {template}?{suffix}" if suffix else f"{method} {template}"


def _parsed(data):
    if not data.strip():
        return {}
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise RestError("INVALID_ARGUMENT", "The request body is not JSON.") from None
    if not isinstance(body, (dict, type(None))):
        raise RestError("INVALID_ARGUMENT", "The request body is not a structure.")
    if any(map(_NO_TEXT.search, _texts(body))):
        raise RestError("INVALID_ARGUMENT", "The request body has a character that no text of the inventory can have.")
    for name, value in (body or {}).items():
        kind = FIELDS.get(name, object)
        fits = value is None or isinstance(value, kind) and not (kind is int and isinstance(value, bool))
        if not fits or any(not isinstance(one, ELEMENTS[name]) for one in name in ELEMENTS and value or ()):
            raise RestError("INVALID_ARGUMENT", f"The field {name} has the wrong type.")
    return body or {}  # clients in Go send null where a method has no parameters


def _texts(value):
    """All texts of a value, keys included."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


def _json(value):
    return json.dumps(value).encode()
