# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The class of RoCE: what each data path leaves to the guest, and what is equal in another form."""

from __future__ import annotations

import subprocess

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, intent
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce, roce_state

from .test_rdma import device
from .world import MAC, Guest

NOW = roce_state.State("ens224", MAC, "mlx5_0", 1, traffic_class=0, tools=["mlnx_qos"])


def paths(now, requested=None, data_path="passthrough"):
    return [change.path for change in roce_state.compare(now, roce_state.want(now, requested or Intent(), data_path))]


@pytest.mark.parametrize(
    "data_path, changed",
    [
        ("pvrdma", ["traffic_class", "kept"]),
        ("sriov", ["traffic_class", "kept"]),
        ("passthrough", ["trust", "pfc", "traffic_class", "kept"]),
    ],
)
def test_flow_control_and_trust_are_set_where_the_guest_owns_them(data_path, changed):
    assert paths(NOW, data_path=data_path) == changed


def test_the_switch_reports_an_adapter_that_is_willing():
    assert paths(NOW, intent({"dcbx": "ieee"})) == ["traffic_class", "kept"]


def test_firmware_that_owns_the_settings_is_reported_to_leave_them():
    now = roce_state.State("ens224", MAC, "mlx5_0", 1, tools=["mlnx_qos"], dcbx_owner="firmware")
    wanted = roce_state.want(now, Intent(), "passthrough")
    assert "dcbx_owner" in [change.path for change in roce_state.compare(now, wanted)]
    assert roce_state.adapter_commands(wanted, Intent())[0][-2:] == ["--dcbx", "os"]


@pytest.mark.parametrize(
    "reported",
    [
        pytest.param({"trust": "dscp", "dscp_map": {26: 3, 48: 6, 10: 1}}, id="a map with more in it"),
        pytest.param({"trust": "both", "dscp_map": None}, id="both trusted, and the map that adapters begin with"),
    ],
)
def test_an_equal_adapter_has_no_differences(reported):
    now = roce_state.State("ens224", MAC, "mlx5_0", 1, traffic_class=106, tools=["mlnx_qos"], pfc=[3], **reported)
    now.kept = roce_state.want(now, Intent(), "passthrough").kept
    assert paths(now) == []


def test_a_dscp_that_goes_elsewhere_by_default_is_mapped():
    requested = intent({"dscp": 24, "priority": 4})
    now = roce_state.State("ens224", MAC, "mlx5_0", 1, traffic_class=98, tools=["dcb"], trust="dscp", pfc=[4])
    assert paths(now, requested) == ["dscp_map", "kept"]
    calls = roce_state.adapter_commands(roce_state.want(now, requested, "passthrough"), requested)
    assert calls[0] == ["/sbin/dcb", "app", "replace", "dev", "ens224", "dscp-prio", "24:4", "48:6"]
    assert calls[1][-2:] == ["all:off", "4:on"]


def test_a_unit_is_read_as_it_was_written():
    lines = roce_state.want(NOW, Intent(), "passthrough").kept
    assert roce_state.lines_of(roce_state.unit("ens224", lines)) == lines


PARAMS = {"config": None, "mac": None, "name": "ens224", "data_path": "pvrdma", "state": "present"}
TOS = roce_state.tos_path("vmw_pvrdma0", 1)


@pytest.fixture
def guest(tmp_path):
    answers = {"systemctl is-enabled": (1, "disabled"), "systemctl": "", "/bin/sh": "", "mkdir": "", "modprobe": ""}
    made = Guest(tmp_path, answers)
    device(made.files, "vmw_pvrdma0", ("0x15ad", "0x0820"))
    made.files.write(TOS, "0\n")
    return made


def step(guest, **params):
    requested = roce.request_of({**PARAMS, **params})
    noun = roce.Roce(requested, guest, guest.files, lambda text: None)
    item = Item("Adapter", requested, {})
    noun.read([item])
    item.wanted = noun.want(item)
    item.changes = noun.compare(item.now, item.wanted)
    noun.apply([item])
    guest.answers["systemctl is-enabled"] = "enabled" if params.get("state") != "absent" else (1, "")
    noun.prove([item])
    return item


def test_the_class_is_set_kept_and_taken_away(guest):
    item = step(guest)
    assert (item.error, guest.files.text(TOS)) == (None, "106\n")
    assert "echo 106 >" in guest.files.text("/etc/systemd/system/aiready-roce-ens224.service")
    item = step(guest, state="absent")
    assert (item.error, guest.files.text(TOS)) == (None, "0\n")
    assert not guest.files.exists("/etc/systemd/system/aiready-roce-ens224.service")


def test_without_the_connection_manager_it_is_reported_what_is_missing(guest):
    guest.files.remove(TOS)
    assert step(guest).error.code == "no_connection_manager"


@pytest.mark.parametrize(
    "params, code",
    [({"name": "ens192"}, "no_rdma"), ({"data_path": "passthrough"}, "tool_missing")],
)
def test_what_cannot_be_is_refused(guest, params, code):
    with pytest.raises(OperatorError) as caught:
        step(guest, **params)
    assert caught.value.code == code


def test_a_class_that_contradicts_itself_is_refused():
    found = roce.check_params({**PARAMS, "config": {"dscp": 48}, "mac": "x"})
    assert any("cnp_dscp" in one for one in found)
    assert any("mac: x" in one for one in found)


OVERRIDE = roce_state.override_path("vmw_pvrdma0", 1)


def test_an_adapter_of_ofed_gets_its_own_traffic_class_now_and_at_each_start(guest):
    guest.files.write(OVERRIDE, "0\n")
    item = step(guest)
    assert [(change.path, change.before, change.after) for change in item.changes[:2]] == [
        ("traffic_class", 0, 106),
        ("override", 0, 106),
    ]
    assert (item.error, guest.files.text(OVERRIDE), item.proved.override) == (None, "106\n", 106)
    # The second run finds what the first one set, in the file and in the unit.
    assert roce_state.compare(item.proved, item.wanted) == []


@pytest.mark.parametrize("ofed", [True, False], ids=["OFED", "inbox driver"])
def test_the_commands_of_a_start_set_the_files_of_this_adapter_alone(tmp_path, ofed):
    ports = {name: tmp_path / f"sys/class/infiniband/{name}/ports/1" for name in ("mlx5_0", "mlx5_1")}
    for (name, port), interface in zip(ports.items(), ("ens224", "ens192"), strict=True):
        (port / "gid_attrs/ndevs").mkdir(parents=True)
        (port / "gid_attrs/ndevs/0").write_text(f"{interface}\n")
        made = tmp_path / f"sys/kernel/config/rdma_cm/{name}/ports/1"
        made.mkdir(parents=True)
        if ofed:
            (port.parents[1] / "tc/1").mkdir(parents=True)
    now = roce_state.State("ens224", MAC, "mlx5_0", 1, override=0 if ofed else None)
    _modprobe, started = roce_state.want(now, Intent(), "sriov").kept
    # systemd reads `$$` as `$`; the shell gets the rest as one word.
    script = started[len("/bin/sh -c '") : -1].replace("$$", "$").replace("/sys/", f"{tmp_path}/sys/")
    subprocess.run(["/bin/sh", "-c", script], check=True)
    written = {str(path.relative_to(tmp_path / "sys")): path.read_text() for path in tmp_path.rglob("*_tos")}
    assert written == {"kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "106\n"}
    written = {str(path.relative_to(tmp_path / "sys")): path.read_text() for path in tmp_path.rglob("traffic_class")}
    assert written == ({"class/infiniband/mlx5_0/tc/1/traffic_class": "106\n"} if ofed else {})
