"""What happens to a call on its way: unknown things, inheritance, faults on demand."""

from __future__ import annotations

import html

import pytest
from pyVmomi import vim, vmodl

from vsphere_twin.vcenter import registry, types


def test_method_that_nobody_serves_is_not_supported_and_noted(client, dispatcher, vms, caplog):
    with pytest.raises(vmodl.fault.NotSupported, match="VirtualMachine.StopReplaying_Task"):
        client.reference(vms["vm-1"]).StopReplaying_Task()
    assert dispatcher.unserved["VirtualMachine.StopReplaying_Task"] == 1
    assert "VirtualMachine.StopReplaying_Task" in caplog.text


def test_argument_that_nobody_serves_is_never_just_ignored(client, dispatcher, monkeypatch):
    monkeypatch.setattr(registry, "find_method", lambda kind, name: lambda call, this: None)
    with pytest.raises(vmodl.fault.NotSupported, match=r"SessionManager.SetLocale\(locale\)"):
        client.content.sessionManager.SetLocale("de")
    assert dispatcher.unserved["SessionManager.SetLocale(locale)"] == 1


def test_object_that_is_gone_is_named_in_the_fault(client):
    with pytest.raises(vmodl.fault.ManagedObjectNotFound) as caught:
        vim.VirtualMachine("vm-99999", client.stub).PowerOn()
    assert caught.value.obj == vim.VirtualMachine("vm-99999")


def test_method_of_a_base_type_serves_what_inherits_from_it():
    assert registry.find_method("VirtualMachine", "Rename_Task") is registry.find_method("Folder", "Rename_Task")
    assert registry.find_method("VirtualMachine", "Rename_Task") is not None
    assert registry.find_method("VirtualMachine", "Login") is None


@pytest.mark.parametrize(
    "register, kind, name",
    [
        pytest.param(registry.method, "VirtualMachine", "Login", id="method-of-another-type"),
        pytest.param(registry.method, "NoSuchThing", "PowerOnVM_Task", id="unknown-type"),
        pytest.param(registry.prop, "VirtualMachine", "nonsense", id="unknown-property"),
    ],
)
def test_nothing_can_be_registered_that_the_api_does_not_have(register, kind, name):
    with pytest.raises((ValueError, KeyError)):
        register(kind, name)


def test_two_functions_cannot_serve_one_method():
    with pytest.raises(ValueError, match="is served by .* already"):
        registry.method("SessionManager", "Login")(lambda call, this: None)


def test_every_property_that_is_served_can_be_written_for_every_object(client, dispatcher, world):
    """A projection that gives what its type cannot hold would show up only in some client's request."""
    for kind in {entity.kind for entity in world._entities.values()}:
        for entity in world.of_kind(kind):
            for name in registry.properties_of(kind):
                for version in ("7.0.2.0", "8.0.3.0"):
                    if types.knows(
                        types.version_of(version), types.property_of(types.managed_type(kind), name).version
                    ):
                        dispatcher.reader.element("val", entity, name, types.version_of(version))


CONFIG = vim.vm.ConfigSpec
NEW_TYPE = vim.vm.device.VirtualPCIPassthrough(
    key=-1, backing=vim.vm.device.VirtualPCIPassthrough.DvxBackingInfo(deviceClass="x")
)
ADDED = vim.vm.device.VirtualDeviceSpec(operation="add", device=NEW_TYPE)
NEWER = {
    "property": ("8.0.3.0", {"spec": CONFIG(numCPUs=2, tdxEnabled=True)}, 'Unexpected element tag "tdxEnabled" seen'),
    "type": ("7.0.3.0", {"spec": CONFIG(deviceChange=[ADDED])}, "type name: VirtualPCIPassthroughDvxBackingInfo"),
    "known": ("8.0.3.0", {"spec": CONFIG(numCPUs=2, virtualNuma=vim.vm.VirtualNuma(coresPerNumaNode=1))}, None),
}


LISTED = {"filterSpec": vim.DirectPathProfileManager.FilterSpec()}


def sent(client, dispatcher, this, method, arguments, version_id):
    """The fault for a client whose library is newer than the version that it speaks; None without one."""
    info = types.method_of(method)
    library = type(client.stub)(dispatcher, "9.1.1.0")
    data = library.SerializeRequest(this, info, [arguments.get(one.name) for one in info.params])
    reply = dispatcher.handle(data, client.stub.cookie, f"urn:vim25/{version_id}")
    return reply.body.decode() if reply.status == 500 else None


@pytest.mark.parametrize("version_id, arguments, words", NEWER.values(), ids=NEWER)
def test_request_with_something_newer_than_its_version_is_refused(
    client, dispatcher, vms, version_id, arguments, words
):
    said = sent(client, dispatcher, client.reference(vms["vm-1"]), "ReconfigVM_Task", arguments, version_id)
    if words is None:
        assert said is None
    else:
        assert words in html.unescape(said)
        assert "InvalidRequestFault" in said


def test_method_that_is_newer_than_the_server_is_refused(client, dispatcher):
    manager = vim.DirectPathProfileManager("DirectPathProfileManager", None)
    said = sent(client, dispatcher, manager, "DirectPathProfileManagerList", LISTED, "9.0.0.0")
    assert "Unable to resolve WSDL method name: DirectPathProfileManagerList" in said


def test_requests_are_counted_by_method_and_in_total(client, dispatcher):
    before = dispatcher.requests.copy()
    client.view(vim.VirtualMachine)
    assert dispatcher.requests - before == {"CreateContainerView": 1}


def test_service_content_names_services_by_their_types(client):
    content = client.content
    assert (content.rootFolder.name, content.setting._moId) == ("Datacenters", "VpxSettings")
    assert isinstance(content.searchIndex, vim.SearchIndex)
    assert (content.about.apiVersion, content.about.version) == ("8.0.3.0", "8.0.3")


def test_call_with_a_closing_planned_is_executed_and_not_answered(client, dispatcher, world):
    data = client.stub.SerializeRequest(
        client.content.viewManager,
        types.method_of("CreateListView"),
        [None],
    )
    world.faults.close_after("CreateListView")
    cookie = client.stub.cookie
    (session,) = dispatcher.sessions.living()
    held = len(session.objects)
    assert dispatcher.handle(data, cookie).body is None
    assert len(session.objects) == held + 1
    assert dispatcher.handle(data, cookie).body is not None
