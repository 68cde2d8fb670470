"""vAPI's JSON-RPC 2.0 at POST /api, which the vSphere Automation SDKs speak: the REST routes serve its operations.

The answers to wrong requests follow the server in vmware-vapi-runtime 9.1 (vmware.vapi.protocol.server.msg).
"""

from __future__ import annotations

import base64
import gzip
import json
import logging
import re

from . import typed
from .api import TOKEN, Answer, Query, unwrapped
from .errors import RestError

LOG = logging.getLogger(__name__)
SCHEMES = "com.vmware.vapi.std.security."
PARSE, REQUEST, METHOD, PARAMS, MISMATCH = -32700, -32600, -32601, -32602, -31001
TEXTS = {
    PARSE: "Parse error.",
    REQUEST: "Invalid Request.",
    METHOD: "Method not found.",
    PARAMS: "Invalid params.",
    MISMATCH: "Mismatching operation identifier in HTTP headerand payload",
}


class ProtocolError(Exception):
    """A request that is no invocation."""

    def __init__(self, code):
        self.code = code
        super().__init__(TEXTS[code])


class JsonRpc:
    """The JSON-RPC side of the REST API of one vCenter."""

    def __init__(self, api):
        self._api = api

    def handle(self, _method, _address, headers, data=b"", client=None):
        """Answer one request: status 200, also for errors."""
        if (headers.get("Content-Type") or "").partition(";")[0].strip().lower() != "application/json":
            return Answer(400, b'{"error": "The Content-Type is not supported."}')
        request = {}
        try:
            request = _request(data)
            service, operation, given, context = _invocation(request, headers)
            result, lost = self._invoke(service, operation, given, context, headers, client)
        except ProtocolError as problem:
            name = None if problem.code in (PARSE, REQUEST) else request.get("id")
            reply = {"jsonrpc": "2.0", "id": name, "error": {"code": problem.code, "message": str(problem)}}
            return Answer(200, json.dumps(reply).encode())
        reply = {"jsonrpc": "2.0", "id": request.get("id"), "result": result}
        more = {"vapi-error": next(iter(result["error"]["ERROR"]))} if "error" in result else {}
        return Answer(200, json.dumps(reply).encode(), more, lost)

    def _invoke(self, service, operation, given, context, headers, client):
        login = (service, operation) == ("com.vmware.cis.session", "create")
        asked = {**_credentials(context, headers, login), "Host": headers.get("Host", "")}
        try:
            if not login:
                self._api.authenticate(asked)
            found = typed.table()[0].get((service, operation))
            if found is None:
                raise self._unknown(service, operation)
            fields = typed.structure(given, typed.INPUT, found.given)
            path, query, body = _target(found, fields)
            answer = self._api.respond(found.verb, path, query, asked, json.dumps(body).encode(), client)
            value = json.loads(answer.data) if answer.data else None
            if answer.status >= 300:
                return _reply(error=typed.error(value))
            return _reply(answer.lost, output=typed.typed(value, found.result))
        except RestError as problem:
            return _reply(error=typed.error(problem.body))
        except RecursionError:
            raise ProtocolError(PARSE) from None
        except Exception:  # a defect of the twin: clients get an answer, and the log says where it is
            LOG.exception("%s %s fails.", service, operation)
            return _reply(error=typed.error(RestError("ERROR", "The twin failed; its log says where.").body))

    def _unknown(self, service, operation):
        """OPERATION_NOT_FOUND with the messages of the runtime."""
        self._api.unserved(f"{service} {operation}")
        if any(name == service for name, _operation in typed.table()[0]):
            code, name = "vapi.method.input.invalid.method", operation
            text = f"Invalid method {name}"
        else:
            code, name = "vapi.method.input.invalid.interface", service
            text = f"Invalid interface {name}"
        return RestError("OPERATION_NOT_FOUND", text, status=404, code=code, args=[name])


def _request(data):
    """The request of a body; a batch is an invalid request, as to the server of the runtime."""
    try:
        request = json.loads(data)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE) from None
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        raise ProtocolError(REQUEST)
    if not isinstance(request.get("id"), (str, int, type(None))):
        raise ProtocolError(REQUEST)
    if not isinstance(request.get("params"), (dict, list, type(None))):
        raise ProtocolError(REQUEST)
    return request


def _invocation(request, headers):
    """The service, the operation, the input and the context of a request."""
    if request["method"] != "invoke":
        raise ProtocolError(METHOD)
    params = request.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("ctx"), dict):
        raise ProtocolError(PARAMS)
    service, operation = str(params.get("serviceId", "")), str(params.get("operationId", ""))
    named = headers.get("vapi-service"), headers.get("vapi-operation")
    if named != (None, None):
        if not service or not operation:
            raise ProtocolError(PARAMS)
        if named != (service, operation):
            raise ProtocolError(MISMATCH)
    context = params["ctx"].get("securityCtx") or {}
    if not isinstance(context, dict):
        raise ProtocolError(PARAMS)
    return service, operation, params.get("input"), context


def _credentials(context, headers, login):
    """The headers by which the REST API knows the user: a session, or for a login a password or a bearer token."""
    scheme, token = context.get("schemeId"), headers.get(TOKEN)
    if not login:
        return {TOKEN: token or (str(context.get("sessionId")) if scheme == f"{SCHEMES}session_id" else None)}
    if scheme == f"{SCHEMES}user_pass":
        pair = f"{context.get('userName')}:{context.get('password')}".encode(errors="replace")
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    if scheme == f"{SCHEMES}saml_bearer_token":
        token = gzip.compress(str(context.get("samlToken")).encode(errors="replace"))
        return {"Authorization": f'SIGN token="{base64.b64encode(token).decode()}"'}
    return {}


def _target(operation, fields):
    """The path, the query and the body of the REST request with these parameters."""
    path, _mark, fixed = operation.path.partition("?")
    query = {name: [value] for name, value in (one.split("=") for one in fixed.split("&") if one)}
    inside = re.findall(r"{(\w+)}", path)
    for name in inside:
        if not str(fields[name]):
            raise RestError("NOT_FOUND", f"The parameter {name} is empty; no object has this identifier.")
        # No identifier has a slash: as part of a path it would be another path.
        path = path.replace(f"{{{name}}}", str(fields[name]).replace("/", "%2F"))
    rest = {name: value for name, value in fields.items() if name not in (*inside, "client_token")}
    if operation.verb in ("POST", "PUT", "PATCH"):
        return f"/api{path}", Query(query), unwrapped(rest)
    for name, value in rest.items():
        for field, one in (value if isinstance(value, dict) else {name: value}).items():
            values = [json.dumps(each) if isinstance(each, bool) else str(each) for each in _listed(one)]
            query.update({field: values} if values else {})
    return f"/api{path}", Query(query), None


def _listed(value):
    return value if isinstance(value, list) else [value]


def _reply(lost=False, /, **result):
    return result, lost
