"""Virtual machines over REST: what clients read and change, and what is refused with which error."""

from __future__ import annotations

import pytest

from vsphere_twin.model import fabric

VMS = "/api/vcenter/vm"


@pytest.fixture
def place(client):
    """A placement with everything that vCenter needs."""

    def first(kind, **filters):
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        return client.ask("GET", f"/api/vcenter/{kind}?{query}")[0][kind]

    return {
        "folder": first("folder", type="VIRTUAL_MACHINE"),
        "host": first("host", names="esx-1"),
        "datastore": first("datastore"),
    }


@pytest.fixture
def vm(client, place):
    """The path of a new virtual machine with a disk, an adapter and a drive."""
    spec = {
        "guest_OS": "RHEL_9_64",
        "name": "one",
        "placement": place,
        "hardware_version": "VMX_20",
        "cpu": {"count": 4, "cores_per_socket": 2, "hot_add_enabled": True},
        "memory": {"size_MiB": 4096},
        "boot": {"type": "EFI", "delay": 500},
        "disks": [{"type": "SCSI", "new_vmdk": {"name": "root", "capacity": 2**30}}, {"type": "NVME", "new_vmdk": {}}],
        "cdroms": [{"type": "SATA", "backing": {"type": "ISO_FILE", "iso_file": "[disk] os.iso"}}],
        "boot_devices": [{"type": "CDROM"}, {"type": "DISK"}],
    }
    return f"{VMS}/{client.ask('POST', VMS, spec)}"


def messages(client, method, path, body=None):
    """Status, kind and the identifiers of the messages of a refusal."""
    status, value = client.answer(method, path, body)
    return status, value["error_type"], [one["id"] for one in value["messages"]]


def test_a_vm_is_read_as_it_was_created(client, vm):
    shown = client.ask("GET", vm)
    assert (shown["guest_OS"], shown["power_state"], shown["hardware"]["version"]) == (
        "RHEL_9_64",
        "POWERED_OFF",
        "VMX_20",
    )
    assert shown["cpu"] == client.ask("GET", f"{vm}/hardware/cpu")
    assert shown["cpu"] == {"count": 4, "cores_per_socket": 2, "hot_add_enabled": True, "hot_remove_enabled": False}
    assert (shown["boot"]["type"], shown["boot"]["delay"]) == ("EFI", 500)
    assert shown["boot_devices"] == [{"type": "CDROM"}, {"type": "DISK", "disks": ["2000", "32000"]}]
    assert {key: (one["type"], one["capacity"]) for key, one in shown["disks"].items()} == {
        "2000": ("SCSI", 2**30),
        "32000": ("NVME", 16 * 2**30),
    }
    assert shown["disks"]["2000"]["backing"]["vmdk_file"] == "[disk] one/root.vmdk"
    (drive,) = shown["cdroms"].values()
    assert drive["sata"] == {"bus": 0, "unit": 0}
    assert drive["backing"] == {"type": "ISO_FILE", "iso_file": "[disk] os.iso"}
    assert list(shown["sata_adapters"]) == ["15000"]
    assert client.ask("GET", f"{vm}/hardware/disk") == [{"disk": "2000"}, {"disk": "32000"}]


@pytest.mark.parametrize(
    "change, text",
    [
        ({"guest_OS": None}, "vapi.data.structure.field.missing"),
        ({"guest_OS": "LINUX"}, "vapi.data.structure.field.invalid"),
        ({"size": 1}, "vapi.data.structure.field.unexpected"),
        ({"cpu": {"count": "4"}}, "vapi.data.structure.field.invalid"),
        ({"cpu": {"count": True}}, "vapi.data.structure.field.invalid"),
        ({"disks": {"2000": {}}}, "vapi.data.structure.field.invalid"),
        ({"disks": [{}]}, "com.vmware.api.vcenter.vm.invalid_argument"),
        (
            {"disks": [{"type": "SCSI", "scsi": {"bus": 0, "unit": 64}, "new_vmdk": {}}]},
            "vmsg.InvalidDeviceSpec.summary",
        ),
        ({"memory": {"size_MiB": 0}}, "com.vmware.api.vcenter.vm.invalid_argument"),
        ({"placement": {}}, "com.vmware.api.vcenter.vm.invalid_argument"),
        ({"name": "a\x00b"}, "com.vmware.twin.error"),
        ({"name": "\ud800"}, "com.vmware.twin.error"),
        ({"name": "x" * 81}, "vmsg.InvalidName.summary"),
    ],
)
def test_a_wrong_specification_creates_no_vm(client, place, change, text):
    spec = {"guest_OS": "UBUNTU_64", "name": "one", "placement": place, "scsi_adapters": [{"type": "PVSCSI"}], **change}
    assert messages(client, "POST", VMS, spec)[:2] == (400, "INVALID_ARGUMENT")
    assert messages(client, "POST", VMS, spec)[2][0] == text
    assert client.ask("GET", VMS) == []


def test_a_name_is_taken_once_and_unknown_objects_are_named(client, place, vm):
    spec = {"guest_OS": "UBUNTU_64", "name": "one", "placement": place}
    assert client.refused("POST", VMS, spec) == (400, "ALREADY_EXISTS")
    wrong = {**spec, "placement": {**place, "host": "host-0"}}
    assert messages(client, "POST", VMS, wrong) == (404, "NOT_FOUND", ["com.vmware.api.vcenter.host.not_found"])
    status, value = client.answer("GET", f"{VMS}/vm-0")
    full = f"vm-0:{client.lab.world.instance_uuid}"
    assert (status, value["messages"]) == (
        404,
        [
            {
                "id": "com.vmware.api.vcenter.vm.not_found",
                "default_message": f"Virtual machine with identifier '{full}' does not exist.",
                "args": [full],
            }
        ],
    )
    assert messages(client, "GET", f"{vm}/hardware/disk/4000")[2] == ["com.vmware.api.vcenter.vm.device.not_found"]
    for path in (
        VMS,
        vm,
        f"{vm}/hardware/disk",
        "/api/vcenter/host",
        "/api/cis/tagging/tag",
        "/api/content/library/item",
    ):
        for query in ("action=nothing", "vmw-task=true"):
            assert client.refused("POST", f"{path}?{query}", spec) == (404, "OPERATION_NOT_FOUND")


def test_power_has_the_errors_of_vcenter(client, vm):
    power = f"{vm}/power"
    assert client.ask("GET", power) == {"state": "POWERED_OFF", "clean_power_off": True}
    state = "vmsg.InvalidPowerState.summary"
    off = ["com.vmware.api.vcenter.vm.power.already_powered_off", state]
    assert messages(client, "POST", f"{power}?action=stop") == (400, "ALREADY_IN_DESIRED_STATE", off)
    assert messages(client, "POST", f"{power}?action=reset") == (400, "NOT_ALLOWED_IN_CURRENT_STATE", [state])
    client.ask("POST", f"{power}?action=start")
    assert client.ask("GET", power) == {"state": "POWERED_ON"}
    assert client.refused("POST", f"{power}?action=start") == (400, "ALREADY_IN_DESIRED_STATE")
    assert client.refused("DELETE", vm) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    client.ask("POST", f"{power}?action=suspend")
    client.ask("POST", f"{power}?action=stop")
    client.ask("DELETE", vm)
    assert client.refused("GET", vm) == (404, "NOT_FOUND")


def test_hardware_changes_by_the_rules_of_a_running_vm(client, vm):
    client.ask("POST", f"{vm}/power?action=start")
    client.ask("PATCH", f"{vm}/hardware/cpu", {"count": 8})
    assert client.refused("PATCH", f"{vm}/hardware/cpu", {"count": 2}) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    assert client.refused("PATCH", f"{vm}/hardware/memory", {"size_MiB": 8192}) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    assert client.refused("PATCH", f"{vm}/hardware/boot", {"type": "BIOS"}) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    assert client.refused("POST", f"{vm}/hardware/cdrom", {}) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    assert client.refused("POST", f"{vm}/hardware?action=upgrade", {}) == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    disk = client.ask("POST", f"{vm}/hardware/disk", {"new_vmdk": {"capacity": 2**30}})
    assert client.ask("GET", f"{vm}/hardware/disk/{disk}")["scsi"] == {"bus": 0, "unit": 1}
    client.ask("DELETE", f"{vm}/hardware/disk/{disk}")
    client.ask("POST", f"{vm}/power?action=stop")
    client.ask("POST", f"{vm}/hardware?action=upgrade", {})
    assert client.refused("POST", f"{vm}/hardware?action=upgrade", {}) == (400, "ALREADY_IN_DESIRED_STATE")


def test_an_adapter_is_added_changed_connected_and_removed(client, vm):
    world = client.lab.world
    folder = world.of_kind("Datacenter")[0].network_folder
    base = f"{vm}/hardware/ethernet"
    assert client.refused("POST", base, {}) == (400, "INVALID_ARGUMENT")  # the host has no network
    backing = {"type": "STANDARD_PORTGROUP", "network": "network-0"}
    assert client.refused("POST", base, {"backing": backing}) == (404, "NOT_FOUND")
    network = fabric.Network(world, "VM Network", folder)
    for host in client.lab.hosts:
        host.networks[network.moid] = network
    world.add(network)
    backing["network"] = network.moid
    nic = client.ask("POST", base, {"backing": backing, "start_connected": True})
    shown = client.ask("GET", f"{base}/{nic}")
    assert (shown["type"], shown["mac_type"], shown["state"]) == ("VMXNET3", "ASSIGNED", "NOT_CONNECTED")
    assert shown["backing"] == {**backing, "network_name": "VM Network"}
    assert client.refused("POST", f"{base}/{nic}?action=connect") == (400, "NOT_ALLOWED_IN_CURRENT_STATE")
    mac = {"mac_address": "00:50:56:00:00:01"}
    assert client.refused("PATCH", f"{base}/{nic}", mac) == (400, "INVALID_ARGUMENT")
    client.ask("PATCH", f"{base}/{nic}", {**mac, "mac_type": "MANUAL"})
    assert client.ask("GET", f"{base}/{nic}")["mac_address"] == mac["mac_address"]
    client.ask("POST", f"{vm}/power?action=start")
    assert client.refused("POST", f"{base}/{nic}?action=connect") == (400, "ALREADY_IN_DESIRED_STATE")
    client.ask("POST", f"{base}/{nic}?action=disconnect")
    assert client.ask("GET", f"{base}/{nic}")["state"] == "NOT_CONNECTED"
    client.ask("DELETE", f"{base}/{nic}")
    assert client.ask("GET", base) == []


def test_policies_of_disks_are_a_map(client, vm):
    for disks in ("", 0, {"2000": "x"}, ["2000"]):
        assert client.refused("PATCH", f"{vm}/storage/policy", {"disks": disks}) == (400, "INVALID_ARGUMENT")
    assert client.refused("PATCH", f"{vm}/storage/policy", {"disks": {"9": {}}}) == (404, "NOT_FOUND")


def test_drives_adapters_and_the_boot_order(client, vm):
    drive = client.ask("POST", f"{vm}/hardware/cdrom", {"type": "IDE"})
    shown = client.ask("GET", f"{vm}/hardware/cdrom/{drive}")
    assert (shown["ide"], shown["backing"]["type"]) == ({"primary": True, "master": True}, "CLIENT_DEVICE")
    wrong = {"backing": {"type": "ISO_FILE"}}
    assert client.refused("PATCH", f"{vm}/hardware/cdrom/{drive}", wrong) == (400, "INVALID_ARGUMENT")
    client.ask("DELETE", f"{vm}/hardware/cdrom/{drive}")
    scsi = client.ask("POST", f"{vm}/hardware/adapter/scsi", {"type": "LSILOGICSAS", "sharing": "VIRTUAL"})
    assert client.ask("GET", f"{vm}/hardware/adapter/scsi/{scsi}")["sharing"] == "VIRTUAL"
    client.ask("DELETE", f"{vm}/hardware/adapter/scsi/{scsi}")
    assert client.refused("DELETE", f"{vm}/hardware/adapter/scsi/1000") == (400, "RESOURCE_IN_USE")
    order = [{"type": "DISK", "disks": ["32000"]}]
    client.ask("PUT", f"{vm}/hardware/boot/device", {"devices": order})
    assert client.ask("GET", f"{vm}/hardware/boot/device") == order
    assert client.refused("PUT", f"{vm}/hardware/boot/device", {"devices": [{"type": "DISK"}]})[1] == "INVALID_ARGUMENT"
    client.ask("PUT", f"{vm}/hardware/boot/device", {"devices": []})
    assert client.ask("GET", f"{vm}/hardware/boot/device") == []


def test_copies_and_moves(client, vm, place):
    source = vm.rpartition("/")[2]
    copy = client.ask("POST", f"{VMS}?action=clone", {"source": source, "name": "two", "disks_to_remove": ["32000"]})
    assert list(client.ask("GET", f"{VMS}/{copy}")["disks"]) == ["2000"]
    assert client.refused("POST", f"{VMS}?action=clone", {"source": source, "name": "two"}) == (400, "ALREADY_EXISTS")
    task = client.task("POST", f"{VMS}?action=clone&vmw-task=true", {"source": source, "name": "three"})
    assert client.ask("GET", f"{VMS}/{task['result']}")["name"] == "three"
    task = client.task("POST", f"{VMS}?action=clone&vmw-task=true", {"source": source, "name": "three"})
    assert (task["status"], task["error"]["error_type"]) == ("FAILED", "ALREADY_EXISTS")
    other = client.lab.hosts[1].moid
    client.ask("POST", f"{vm}?action=relocate", {"placement": {"host": other}})
    assert client.ask("GET", f"{VMS}?hosts={other}")[0]["name"] == "one"
    client.ask("POST", f"{vm}?action=unregister")
    spec = {"datastore_path": "[disk] one/one.vmx", "placement": {"folder": place["folder"], "host": other}}
    back = client.ask("POST", f"{VMS}?action=register", spec)
    assert client.ask("GET", f"{VMS}/{back}")["name"] == "one"
    assert client.refused("POST", f"{VMS}?action=register", spec) == (400, "ALREADY_EXISTS")


def test_a_guest_reports_by_running_tools(client, vm):
    gone = (503, "SERVICE_UNAVAILABLE", ["com.vmware.api.vcenter.vm.guest.information_not_available"])
    for part in ("identity", "networking", "networking/interfaces", "local-filesystem"):
        assert messages(client, "GET", f"{vm}/guest/{part}") == gone
    assert client.ask("GET", f"{vm}/tools")["version_status"] == "NOT_INSTALLED"
    assert client.refused("POST", f"{vm}/guest/power?action=shutdown") == (400, "ALREADY_IN_DESIRED_STATE")
    client.ask("POST", f"{vm}/power?action=start")
    assert client.refused("POST", f"{vm}/guest/power?action=reboot") == (503, "SERVICE_UNAVAILABLE")
    login = {"interactive_session": False, "type": "USERNAME_PASSWORD", "user_name": "root", "password": "x"}
    processes = f"{vm}/guest/processes?action=list"
    assert client.refused("POST", processes, {"credentials": login}) == (503, "SERVICE_UNAVAILABLE")
    client.lab.world.get(vm.rpartition("/")[2]).tools_running = True
    assert client.ask("GET", f"{vm}/guest/identity")["family"] == "LINUX"
    assert client.ask("GET", f"{vm}/guest/power") == {"state": "RUNNING", "operations_ready": True}
    assert client.refused("POST", processes, {"credentials": login}) == (401, "UNAUTHENTICATED")
    assert client.refused("POST", processes, {}) == (400, "INVALID_ARGUMENT")
    assert client.ask("POST", f"{vm}/console/tickets", {"type": "WEBMKS"})["ticket"].startswith("wss://")


def test_the_older_form_has_its_operations_in_the_path(client, vm):
    old = vm.replace("/api/", "/rest/")
    shown = client.ask("GET", old)["value"]
    assert [one["key"] for one in shown["disks"]] == ["2000", "32000"]
    assert client.ask("GET", f"{old}/hardware/disk")["value"] == [{"disk": "2000"}, {"disk": "32000"}]
    assert client.answer("PATCH", f"{old}/hardware/cpu", {"spec": {"count": 2}}) == (200, None)
    client.answer("POST", f"{old}/power/start")
    status, value = client.answer("POST", f"{old}/power/start")
    assert (status, value["type"]) == (400, "com.vmware.vapi.std.errors.already_in_desired_state")
    assert client.answer("POST", f"{old}/hardware/action/upgrade")[0] == 400


def test_containers_are_read_and_changed(client):
    (cluster,) = client.ask("GET", "/api/vcenter/cluster")
    pool = client.ask("GET", f"/api/vcenter/cluster/{cluster['cluster']}")["resource_pool"]
    child = client.ask("POST", "/api/vcenter/resource-pool", {"name": "child", "parent": pool})
    path = f"/api/vcenter/resource-pool/{child}"
    client.ask("PATCH", path, {"cpu_allocation": {"limit": 500, "shares": {"level": "CUSTOM", "shares": 12}}})
    shown = client.ask("GET", path)["cpu_allocation"]
    assert (shown["limit"], shown["shares"]) == (500, {"level": "CUSTOM", "shares": 12})
    wrong = {"cpu_allocation": {"shares": {"level": "CUSTOM"}}}
    assert client.refused("PATCH", path, wrong) == (400, "INVALID_ARGUMENT")
    much = {"memory_allocation": {"reservation": 10**9}}
    assert client.refused("PATCH", path, much)[1] == "UNABLE_TO_ALLOCATE_RESOURCE"
    client.ask("DELETE", path)
    assert client.refused("DELETE", f"/api/vcenter/resource-pool/{pool}") == (400, "INVALID_ARGUMENT")
    center = client.ask("POST", "/api/vcenter/datacenter", {"name": "two", "folder": "group-d1"})
    assert client.ask("GET", f"/api/vcenter/datacenter/{center}")["name"] == "two"
    client.ask("DELETE", f"/api/vcenter/datacenter/{center}")
    (lab,) = client.ask("GET", "/api/vcenter/datacenter")
    assert client.refused("DELETE", f"/api/vcenter/datacenter/{lab['datacenter']}") == (400, "RESOURCE_IN_USE")


def test_hosts_are_disconnected_and_connected(client):
    host = f"/api/vcenter/host/{client.lab.hosts[0].moid}"
    assert client.refused("POST", f"{host}?action=connect") == (400, "ALREADY_IN_DESIRED_STATE")
    client.ask("POST", f"{host}?action=disconnect")
    assert client.ask("GET", "/api/vcenter/host?names=esx-1")[0]["connection_state"] == "DISCONNECTED"
    client.ask("POST", f"{host}?action=connect")
    assert client.refused("DELETE", host) == (400, "RESOURCE_IN_USE")
    assert client.refused("POST", "/api/vcenter/host", {}) == (400, "INVALID_ARGUMENT")
