"""vAPI's JSON-RPC without sockets: invocations, types of results, and wrong requests."""

from __future__ import annotations

import json
import re

import pytest

from vsphere_twin.rest import typed
from vsphere_twin.rest.api import ROUTES
from vsphere_twin.rest.jsonrpc import JsonRpc

PREFIX = "com.vmware."
LIBRARY = ".".join(("content", "library"))
ERROR = f"{PREFIX}vapi.std.errors."
JSON = {"Content-Type": "application/json"}
SECURITY = f"{PREFIX}vapi.std.security."


class Rpc:
    """A client of POST /api, by default with the session of a REST client."""

    def __init__(self, client):
        self._face = JsonRpc(client.lab.api)
        self.context = {"schemeId": f"{SECURITY}session_id", "sessionId": client.headers["vmware-api-session-id"]}

    def post(self, body, headers=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self._face.handle("POST", "/api", {**JSON, **(headers or {})}, data)
        assert answer.status == 200
        return json.loads(answer.data), answer.headers

    def result(self, operation, fields=None, context=None, **headers):
        """The result of an operation: its name without com.vmware, and its parameters with their types."""
        service, _dot, name = operation.rpartition(".")
        params = {
            "serviceId": PREFIX + service,
            "operationId": name,
            "input": structure("operation-input", fields or {}),
            "ctx": {"appCtx": {"opId": "1"}, "securityCtx": self.context if context is None else context},
        }
        request = {"jsonrpc": "2.0", "id": "7", "method": "invoke", "params": params}
        reply, more = self.post(request, headers)
        assert (reply["jsonrpc"], reply["id"]) == ("2.0", "7")
        assert more.get("vapi-error") == next(iter(reply["result"].get("error", {"ERROR": [None]})["ERROR"]))
        return reply["result"]

    def output(self, operation, fields=None):
        return self.result(operation, fields)["output"]

    def error(self, operation, fields=None, **more):
        """The kind of an error and its texts."""
        ((kind, inside),) = self.result(operation, fields, **more)["error"]["ERROR"].items()
        texts = [fields_of(one)["default_message"] for one in inside["messages"]]
        return kind.removeprefix(ERROR), " ".join(texts)


def structure(name, fields):
    return {"STRUCTURE": {name: fields}}


def fields_of(value):
    ((_name, fields),) = value["STRUCTURE"].items()
    return fields


def optional(value=None):
    return {"OPTIONAL": value}


def category(**more):
    spec = {"name": "rack", "description": "", "cardinality": "SINGLE", "associable_types": [], **more}
    return {"create_spec": structure(f"{PREFIX}cis.tagging.category.create_spec", spec)}


def model(kind, **fields):
    """A structure of content libraries."""
    return structure(f"{PREFIX}{LIBRARY}.{kind}_model", fields)


@pytest.fixture
def rpc(client):
    return Rpc(client)


def test_each_operation_has_a_route_and_known_structures():
    operations, structures = typed.table()
    routes = [(pattern, verb, wanted) for verb, _path, pattern, wanted, _do in ROUTES]
    routes += [(re.compile("/api/session"), verb, {}) for verb in ("GET", "POST", "DELETE")]
    for name, one in operations.items():
        path, _mark, query = f"/api{one.path}".partition("?")
        asked = one.verb, dict(pair.split("=") for pair in query.split("&") if pair)
        found = [pattern.fullmatch(path) for pattern, verb, wanted in routes if asked == (verb, wanted)]
        # Words of a path are no identifiers, such as v2: only routes for several kinds have a name there.
        taken = [{key for key, value in one.groupdict().items() if "{" not in value} for one in found if one]
        assert any(names <= {"kind", "report"} for names in taken), name
    kinds = [kind for one in operations.values() for kind in (*one.given.values(), one.result)]
    kinds += [kind for fields in structures.values() for kind in fields.values()]
    words = {kind.strip("[]{}?") for kind in kinds}
    assert words - set(structures) == {"any", "bool", "error", "int", "secret", "str", "void"}


def test_a_session_is_opened_read_and_ended(rpc):
    login = {"schemeId": f"{SECURITY}user_pass", "userName": "one@vsphere.local", "password": "Secret1!"}
    opened = rpc.result("cis.session.create", context=login)["output"]["SECRET"]
    rpc.context = {"schemeId": f"{SECURITY}session_id", "sessionId": opened}
    assert fields_of(rpc.output("cis.session.get"))["user"] == "one@vsphere.local"
    assert rpc.output("cis.session.delete") is None
    assert rpc.error("cis.session.get")[0] == "unauthenticated"


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"schemeId": f"{SECURITY}session_id", "sessionId": "none"},
        {"schemeId": f"{SECURITY}user_pass", "userName": "one@vsphere.local", "password": "wrong"},
        {"schemeId": f"{SECURITY}user_pass", "userName": "\ud800", "password": 5},
        {"schemeId": f"{SECURITY}saml_bearer_token", "samlToken": "<saml/>"},
        {"schemeId": f"{SECURITY}saml_bearer_token", "samlToken": "\ud800"},
    ],
)
@pytest.mark.parametrize("operation", ["cis.session.create", "vcenter.VM.list", "vcenter.nothing.list"])
def test_a_request_without_valid_credentials_is_unauthenticated(rpc, context, operation):
    assert rpc.error(operation, context=context)[0] == "unauthenticated"


def test_a_password_opens_sessions_only(rpc):
    login = {"schemeId": f"{SECURITY}user_pass", "userName": "one@vsphere.local", "password": "Secret1!"}
    assert rpc.error("vcenter.VM.list", context=login)[0] == "unauthenticated"


def test_the_session_in_the_header_is_used_first(rpc):
    header = {"vmware-api-session-id": rpc.context["sessionId"]}
    assert rpc.result("vcenter.VM.list", context={}, **header)["output"] == []


def test_results_have_names_and_optional_values(rpc):
    (host, _other) = rpc.output("vcenter.host.list")
    ((name, fields),) = host["STRUCTURE"].items()
    assert name == "com.vmware.vcenter.host.summary"
    assert fields["name"] == "esx-1"
    assert fields["power_state"] == optional("POWERED_ON")
    assert fields["host_uuid"] == optional()


def test_a_library_that_is_not_published_has_its_settings(client, rpc):
    (store,) = client.lab.world.of_kind("Datastore")
    made = client.lab.world.libraries.add(client.lab.world, "images", "LOCAL", store)
    shown = fields_of(rpc.output("content.local_library.get", {"library_id": made.id}))
    assert fields_of(shown["publish_info"]["OPTIONAL"])["published"] == optional(False)


def test_filters_are_parameters_of_the_route(rpc):
    spec = {"names": optional(["esx-2"]), "clusters": optional([]), "folders": optional()}
    given = {"filter": optional(structure(f"{PREFIX}vcenter.host.filter_spec", spec))}
    assert [fields_of(one)["name"] for one in rpc.output("vcenter.host.list", given)] == ["esx-2"]


def test_a_tag_is_created_attached_changed_and_deleted(rpc):
    made = rpc.output("cis.tagging.category.create", category(associable_types=["HostSystem"]))
    spec = {"name": "a", "description": "", "category_id": made, "tag_id": optional()}
    tag = rpc.output("cis.tagging.tag.create", {"create_spec": structure(f"{PREFIX}cis.tagging.tag.create_spec", spec)})
    host = structure(f"{PREFIX}vapi.std.dynamic_ID", {"type": "HostSystem", "id": "host-101"})
    assert rpc.output("cis.tagging.tag_association.list_attachable_tags", {"object_id": host}) == [tag]
    assert rpc.output("cis.tagging.tag_association.attach", {"tag_id": tag, "object_id": host}) is None
    assert rpc.output("cis.tagging.tag_association.list_attachable_tags", {"object_id": host}) == []
    assert rpc.output("cis.tagging.tag_association.list_attached_tags", {"object_id": host}) == [tag]
    change = structure(f"{PREFIX}cis.tagging.tag.update_spec", {"name": optional("b")})
    rpc.output("cis.tagging.tag.update", {"tag_id": tag, "update_spec": change})
    assert fields_of(rpc.output("cis.tagging.tag.get", {"tag_id": tag}))["name"] == "b"
    rpc.output("cis.tagging.tag.delete", {"tag_id": tag})
    assert rpc.error("cis.tagging.tag.get", {"tag_id": tag})[0] == "not_found"


def test_a_tag_is_only_for_the_types_of_its_category(rpc):
    made = rpc.output("cis.tagging.category.create", category(associable_types=["VirtualMachine"]))
    spec = {"name": "a", "description": "", "category_id": made, "tag_id": optional()}
    tag = rpc.output("cis.tagging.tag.create", {"create_spec": structure(f"{PREFIX}cis.tagging.tag.create_spec", spec)})
    host, none = (
        structure(f"{PREFIX}vapi.std.dynamic_ID", {"type": "HostSystem", "id": one}) for one in ("host-101", "host-9")
    )
    service = "cis.tagging.tag_association"
    assert rpc.error(f"{service}.attach", {"tag_id": tag, "object_id": host})[0] == "invalid_argument"
    for name, given, count in (
        ("attach_multiple_tags_to_object", {"object_id": host, "tag_ids": [tag, "none"]}, 2),
        ("attach_tag_to_multiple_objects", {"tag_id": tag, "object_ids": [host, none]}, 2),
        ("detach_tag_from_multiple_objects", {"tag_id": tag, "object_ids": [host, none]}, 1),
    ):
        batch = fields_of(rpc.output(f"{service}.{name}", given))
        assert (batch["success"], len(batch["error_messages"])) == (False, count)
    assert rpc.output(f"{service}.list_attached_tags", {"object_id": host}) == []
    assert rpc.output(f"{service}.list_attachable_tags", {"object_id": host}) == []


def test_an_image_is_uploaded_after_its_preview(client, rpc):
    world = client.lab.world
    (store,) = world.of_kind("Datastore")
    library, service = world.libraries.add(world, "images", "LOCAL", store), f"{LIBRARY}.item"
    spec = {"name": optional("iso"), "type": optional("iso"), "library_id": optional(library.id)}
    item = rpc.output(f"{service}.create", {"create_spec": model("item", **spec), "client_token": optional()})
    spec = model("item.update_session", library_item_id=optional(item))
    session = rpc.output(f"{service}.update_session.create", {"create_spec": spec, "client_token": optional()})

    def preview():
        shown = fields_of(rpc.output(f"{service}.update_session.get", {"update_session_id": session}))
        inside = shown["preview_info"]["OPTIONAL"]
        return inside and fields_of(inside)

    assert preview()["state"] == "UNAVAILABLE"
    name = f"{PREFIX}{LIBRARY}.item.updatesession.file.add_spec"
    file = structure(name, {"name": "a.iso", "source_type": "PUSH", "size": optional(3)})
    rpc.output(f"{service}.updatesession.file.add", {"update_session_id": session, "file_spec": file})
    assert (preview()["state"], preview()["warnings"]) == ("NOT_APPLICABLE", optional())
    for kind, ignored in (("EXPIRED_CERTIFICATE", True), ("MOOD", False)):
        behavior = structure(
            f"{PREFIX}{LIBRARY}.item.updatesession.warning_behavior", {"type": kind, "ignored": ignored}
        )
        change = {
            "update_session_id": session,
            "update_spec": model("item.update_session", warning_behavior=optional([behavior])),
        }
        answer = rpc.result(f"{service}.update_session.update", change)
        assert ("output" in answer) is ignored
    world.libraries.sessions[session].receive("a.iso", b"abc")
    rpc.output(f"{service}.update_session.complete", {"update_session_id": session})
    assert preview() is None


def test_a_failed_deployment_has_the_error_of_the_server():
    value = {"category": "SERVER", "error": {"error_type": "ALREADY_EXISTS", "messages": []}}
    shown = fields_of(typed.typed(value, f"{PREFIX}vcenter.ovf.ovf_error"))
    assert (shown["message"], list(shown["error"]["OPTIONAL"]["ERROR"])) == (optional(), [f"{ERROR}already_exists"])


def test_an_error_has_its_kind_and_its_messages(rpc):
    rpc.output("cis.tagging.category.create", category())
    kind, text = rpc.error("cis.tagging.category.create", category())
    assert kind == "already_exists"
    assert "rack" in text


@pytest.mark.parametrize(
    "operation, fields, said",
    [
        ("cis.tagging.tag.get", {}, 'Structure operation-input is missing a field "tag_id"'),
        ("cis.tagging.tag.get", {"tag_id": 5}, "expected an object of type STRING, but got INTEGER"),
        ("cis.tagging.tag.get", {"tag_id": optional("x")}, "expected an object of type STRING, but got OPTIONAL"),
        ("cis.tagging.tag.get", {"tag_id": "x", "more": 1}, 'Found unexpected field "more" in structure'),
        ("cis.tagging.category.create", category(associable_types="HostSystem"), "type LIST, but got STRING"),
        ("cis.tagging.category.create", category(cardinality=True), "type STRING, but got BOOLEAN"),
        ("cis.tagging.category.create", category(colour="red"), 'Found unexpected field "colour"'),
        ("cis.tagging.category.create", {"create_spec": structure("x", {})}, "Name mismatch for structure."),
        ("cis.tagging.category.create", {"create_spec": {}}, "type STRUCTURE, but got STRUCTURE"),
        ("vcenter.host.list", {"filter": "x"}, "type OPTIONAL, but got STRING"),
    ],
)
def test_an_input_of_the_wrong_form_is_an_invalid_argument(rpc, operation, fields, said):
    kind, text = rpc.error(operation, fields)
    assert kind == "invalid_argument"
    assert said in text


@pytest.mark.parametrize(
    "operation, said",
    [("cis.tagging.tag.fly", "Invalid method fly"), ("cis.flying.list", "Invalid interface com.vmware.cis.flying")],
)
def test_an_unknown_operation_is_not_found_and_counted(client, rpc, operation, said):
    assert rpc.error(operation) == ("operation_not_found", said)
    assert sum(client.lab.dispatcher.unserved.values()) == 1


@pytest.mark.parametrize("name", ["", "a/b", "../category/x", "urn%3Ax"])
def test_an_identifier_is_never_another_path(rpc, name):
    assert rpc.error("cis.tagging.tag.get", {"tag_id": name})[0] == "not_found"


INVOKE = {"jsonrpc": "2.0", "id": 1, "method": "invoke", "params": {"ctx": {}}}


@pytest.mark.parametrize(
    "body, code, name",
    [
        (b"{", -32700, None),
        (b"", -32700, None),
        ([INVOKE, INVOKE], -32600, None),
        ({**INVOKE, "jsonrpc": "1.0"}, -32600, None),
        ({**INVOKE, "method": 5}, -32600, None),
        ({**INVOKE, "id": [1]}, -32600, None),
        ({**INVOKE, "params": "x"}, -32600, None),
        ({**INVOKE, "method": "fly"}, -32601, 1),
        ({**INVOKE, "params": []}, -32602, 1),
        ({**INVOKE, "params": {}}, -32602, 1),
        ({**INVOKE, "params": {"ctx": {"securityCtx": "x"}}}, -32602, 1),
    ],
)
def test_a_body_that_is_no_invocation_gets_an_error_of_json_rpc(rpc, body, code, name):
    reply, _headers = rpc.post(body)
    assert (reply["error"]["code"], reply["id"]) == (code, name)


def test_a_value_without_end_is_no_json(rpc):
    deep = b'{"a":' * 20000 + b"1" + b"}" * 20000
    assert rpc.post(deep)[0]["error"]["code"] == -32700


def test_headers_that_name_another_operation_are_refused(rpc):
    service = {"serviceId": "com.vmware.vcenter.VM", "operationId": "list", "ctx": {}}
    named = {"vapi-service": "com.vmware.vcenter.VM", "vapi-operation": "get"}
    assert rpc.post({**INVOKE, "params": service}, named)[0]["error"]["code"] == -31001
    assert rpc.post(INVOKE, named)[0]["error"]["code"] == -32602


def test_another_content_type_is_refused(client):
    answer = JsonRpc(client.lab.api).handle("POST", "/api", {"Content-Type": "text/plain"}, b"{}")
    assert answer.status == 400


def test_an_answer_can_be_lost_after_the_work_is_done(client, rpc):
    client.lab.world.faults.close_after("POST /api/cis/tagging/category")
    given = {"serviceId": f"{PREFIX}cis.tagging.category", "operationId": "create"}
    given.update(input=structure("operation-input", category()), ctx={"securityCtx": rpc.context})
    data = json.dumps({**INVOKE, "params": given}).encode()
    assert JsonRpc(client.lab.api).handle("POST", "/api", JSON, data).lost
    assert len(rpc.output("cis.tagging.category.list")) == 1
