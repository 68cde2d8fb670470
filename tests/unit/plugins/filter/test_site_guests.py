"""Who the guests of a site are, and what each of them gets."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from house.collection import filter_sample
from house.handover import handed_over
from unit.plugins.filter.seen_guests import adapter, seen, site, vm

ROOT = pathlib.Path(__file__).resolve().parents[4]
site_guests = FilterModule().filters()["site_guests"]


def guest(reported=None, name="job-01", **parts):
    return site_guests(site(**parts), reported or seen())["guests"][name]


@pytest.mark.parametrize(
    "parts, stages",
    [
        pytest.param({"guests": None}, [], id="nothing"),
        pytest.param({"guests": {}, "training": {}}, [], id="empty"),
        pytest.param({"guests": {"user": "ops"}}, ["guests"], id="one"),
        pytest.param(
            {"guests": None, "runtime": {"engine": "docker"}, "training": {"image": "a:1", "builtin": "small"}},
            ["runtime", "training"],
            id="others",
        ),
    ],
)
def test_a_stage_is_on_when_the_site_says_something_of_it(parts, stages):
    assert site_guests(site(**parts))["stages"] == stages


def test_vcenter_is_asked_for_every_vm_and_for_the_driver_of_its_host():
    look = site_guests(site(datacenter="DC1", guests={"address_network": "VM Network"}))["look"]
    assert look == {
        "vms": [{"name": "job-01"}, {"name": "job-02"}],
        "datacenter": "DC1",
        "address_network": "VM Network",
        "host_driver": True,
    }


def test_with_tcp_the_network_of_the_training_is_no_way_in():
    look = site_guests(site(network={"path": "tcp", "portgroup": "pg-train"}))["look"]
    assert look["data_network"] == "pg-train"


def test_each_guest_gets_its_address_its_adapter_and_what_all_have_in_common():
    reported = guest(guests={"user": "ops", "reboot": "allow", "training_user": "trainer", "host_keys": "accept_new"})
    assert reported["connection"] == {
        "ansible_host": "192.0.2.1",
        "ansible_user": "ops",
        "ansible_ssh_extra_args": "-o StrictHostKeyChecking=accept-new",
    }
    assert reported["data_interface"] == {"mac": "00:50:56:00:00:03", "mtu": 9000}
    assert (reported["data_address"], reported["host_driver"], reported["gpu"]) == ("198.51.100.1", "550.54.16", True)
    assert (reported["reboot"], reported["user"]) == ("allow", "trainer")
    assert (reported["roce"]["priority"], reported["roce"]["dscp"]) == (3, 26)
    assert reported["peers"] == [
        {"name": "job-01", "addresses": ["192.0.2.1", "198.51.100.1"]},
        {"name": "job-02", "addresses": ["192.0.2.2", "198.51.100.2"]},
    ]


def test_what_the_site_does_not_say_is_left_as_it_is():
    reported = guest(guests={"reboot": "refuse"}, network={"path": "tcp"})
    assert (reported["driver"], reported["licence"], reported["roce"]) == ({}, {}, {})
    assert reported["data_interface"] == {"mac": "00:50:56:00:00:02", "mtu": 0}
    # A variable has precedence over ANSIBLE_HOST_KEY_CHECKING, which AWX sets to False.
    assert reported["connection"] == {"ansible_host": "192.0.2.1", "ansible_host_key_checking": True}
    assert reported["rdma"] == {"stack": "inbox", "gpudirect": "off"}


@pytest.mark.parametrize("said", [f"sha256:{'0a' * 32}", "0a" * 32], ids=["with its kind", "as sha256sum prints it"])
def test_a_checksum_reports_the_module_of_which_kind_it_is(said):
    driver = {"package": "/srv/grid.deb", "checksum": said}
    assert guest(guests={"driver": driver})["driver"]["checksum"] == f"sha256:{'0a' * 32}"


def test_the_driver_of_the_site_is_what_the_role_takes_and_nobody_has_to_say_a_default():
    said = {"package": "https://depot.example.org/grid.run", "ca_file": "/srv/ca.pem", "downgrade": "allow"}
    signed = {"secure_boot": "signed", "signing_key": "/etc/keys/mok.key", "signing_certificate": "/etc/keys/mok.der"}
    reported = guest(guests={"driver": {**said, **signed}})["driver"]
    assert reported == {**said, **signed, "source": "auto", "flavour": "vgpu", "headers": True}
    spec = yaml.safe_load((ROOT / "roles/guest_vm/meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    assert set(spec["options"]["guest_vm_driver"]["options"]) == {*reported, "checksum", "version"}


@pytest.mark.parametrize(
    "mode, said, feature",
    [
        ("vgpu", "auto", "vgpu"),
        ("mig", "auto", "vgpu"),
        ("passthrough", "auto", "compute"),
        ("vgpu", "rtx_vws", "rtx_vws"),
    ],
)
def test_what_is_licensed_follows_from_how_gpus_are_shared(mode, said, feature):
    gpu = {"mode": mode, "profile": {"vgpu": "grid_a100-40c", "mig": "grid_a100-3-20c"}.get(mode)}
    licence = {"feature_type": said, "wait_s": 60}
    assert guest(gpu=gpu, guests={"licence": licence})["licence"] == {"feature_type": feature, "wait_s": 60}


@pytest.mark.parametrize(
    "path, requested, gpudirect",
    [
        pytest.param("sriov", {}, "auto", id="a path that can"),
        pytest.param("sriov", {"gpudirect": "disabled"}, "off", id="not wanted"),
        pytest.param("pvrdma", {"vmknic": "vmk1"}, "off", id="a path that cannot"),
    ],
)
def test_gpudirect_is_for_paths_that_can_do_it(path, requested, gpudirect):
    network = {"path": path, "nics": ["vmnic2"], "portgroup": "pg-rdma", **requested}
    reported = seen(vm(adapters=[adapter(number=1), adapter(path, 2, "pg-rdma")]))
    assert guest(reported, network=network, vms=[{"name": "job-01"}])["rdma"]["gpudirect"] == gpudirect


def test_fixed_addresses_follow_the_order_of_the_vms():
    plan = {"subnet": "203.0.113.0/24", "first": 21}
    reported = site_guests(site(guests={"data_addresses": plan}), seen())["guests"]
    assert [one["data_interface"]["address"] for one in reported.values()] == ["203.0.113.21/24", "203.0.113.22/24"]
    assert [one["data_address"] for one in reported.values()] == ["203.0.113.21", "203.0.113.22"]
    assert "203.0.113.22" in reported["job-01"]["peers"][1]["addresses"]


def test_a_vm_that_is_not_there_yet_does_not_shift_the_addresses_of_the_others():
    plan = {"subnet": "203.0.113.0/24", "first": 21}
    reported = site_guests(site(guests={"data_addresses": plan}), seen(vm("job-02", 2)))
    assert (reported["waiting"], list(reported["guests"])) == (["job-01"], ["job-02"])
    assert reported["guests"]["job-02"]["data_address"] == "203.0.113.22"


def test_what_the_inventory_says_of_its_guests_wins():
    own = {"job-02": {"ansible_host": "gate.example.org", "ansible_user": "root", "data_mac": "b8:ce:f6:00:00:01"}}
    reported = site_guests(site(), seen(), ["job-02"], own)["guests"]
    assert list(reported) == ["job-02"]
    assert reported["job-02"]["connection"] == {"ansible_host_key_checking": True}
    assert reported["job-02"]["data_interface"]["mac"] == "b8:ce:f6:00:00:01"
    assert reported["job-02"]["address"] == "gate.example.org"


def test_a_guest_that_a_run_found_itself_is_read_again():
    """Its address may have changed since, and the inventory does not list it."""
    found = {"job-02": {"ansible_host": "192.0.2.99", "aiready_guest_found": True}}
    reported = site_guests(site(), seen(), ["job-02"], found)["guests"]
    assert reported == site_guests(site(), seen())["guests"]


PORT = {"path": "passthrough", "nics": ["0000:3b:00.0"]}
TWINS = [vm("a", 1, path="/DC1/vm/x/a"), vm("a", 2, path="/DC1/vm/y/a")]
PROBLEMS = {
    "no address": (
        {},
        seen(vm(), vm("job-02", 2, address=None, why_no_address="It is off.")),
        (),
        "job-02: the guest has no address for SSH. It is off. Start it with playbook machines",
    ),
    "no adapter of the path": (
        {},
        seen(vm(), vm("job-02", 2, adapters=[adapter(number=9)])),
        (),
        "job-02: the adapter for the path pvrdma is unknown. Adapters of the VM: Network adapter 9 (vmxnet3, VM "
        "Network). Set site.network.portgroup, and run playbook machines to add it.",
    ),
    "a port whose MAC address nobody knows": (
        {"network": PORT, "vms": [{"name": "job-01"}]},
        seen(vm(adapters=[adapter(number=1), adapter("passthrough", 2, None, mac="")])),
        (),
        "Set its MAC address as data_mac in the inventory's group training_guests.",
    ),
    "no GPU": (
        {},
        seen(vm(), vm("job-02", 2, gpus=0)),
        (),
        "job-02: the VM has no GPU, but site.gpu gives it one. Run playbook machines first.",
    ),
    "names that Ansible cannot distinguish": (
        {"vms": [{"path": "/DC1/vm/x/a"}, {"path": "/DC1/vm/y/a"}]},
        seen(*TWINS),
        (),
        "/DC1/vm/y/a: the name of the VM is also its name in Ansible, but /DC1/vm/x/a has the name a too. Rename",
    ),
    "a guest in the inventory that is no VM of the site": (
        {},
        seen(),
        ("job-01", "job-02", "old-07"),
        "old-07: it is in the inventory's group training_guests, but no VM of site.vms has this name.",
    ),
}


@pytest.mark.parametrize("parts, reported, names, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_guest_that_does_not_fit_the_site_is_reported_with_a_way_out(parts, reported, names, problem):
    (found,) = site_guests(site(**parts), reported, names)["problems"]
    assert problem in found


@pytest.mark.parametrize(
    "licence, token, problem",
    [
        pytest.param({"wait_s": 9}, False, "site.guests.licence: it has no token. Set", id="none"),
        pytest.param({"token_file": "/nowhere/a.tok"}, True, "site_licence_token is also set", id="both"),
        pytest.param({"token_file": "/nowhere/a.tok"}, False, "/nowhere/a.tok does not exist.", id="missing"),
    ],
)
def test_way_to_the_licence_token_is_looked_at_before_any_guest_is_touched(licence, token, problem):
    (found,) = site_guests(site(guests={"licence": licence}), seen(), (), None, token)["problems"]
    assert problem in found


@pytest.mark.parametrize(
    "mode, content, notes",
    [
        pytest.param(0o644, "eyJ", 1, id="in clear, for all"),
        pytest.param(0o600, "eyJ", 0, id="in clear, for the owner"),
        pytest.param(0o644, "$ANSIBLE_VAULT;1.1;AES256\n", 0, id="vault"),
    ],
)
def test_token_that_others_can_read_is_warned_of_and_never_shown(tmp_path, mode, content, notes):
    file = tmp_path / "client.tok"
    file.write_text(content)
    file.chmod(mode)
    reported = site_guests(site(guests={"licence": {"token_file": str(file)}}), seen(), (), None, False)
    assert (len(reported["notes"]), reported["problems"]) == (notes, [])
    assert "eyJ" not in str(reported)


def test_site_that_is_not_valid_is_no_site():
    with pytest.raises(AnsibleFilterError, match="the key is unknown"):
        site_guests(site(guests={"usr": "ops"}))


def test_documented_result_has_the_keys_of_a_real_one():
    sample = filter_sample("site_guests")
    reported = site_guests(site(), seen())
    assert set(sample) == set(reported)
    assert set(sample["guests"]["train-01"]) <= set(reported["guests"]["job-01"])


# What the role gets under another name, or passes on to others.
# What the playbook uses itself, and no role.
BESIDE = {"vm", "connection", "address", "addresses", "data_address", "gpus", "host", "login_timeout_s"}


@pytest.mark.parametrize(
    "requested",
    [
        {"user": "ops"},
        {
            "driver": {"package": "/srv/grid.deb", "version": "550.54.15"},
            "licence": {"wait_s": 60},
            "data_addresses": {"subnet": "203.0.113.0/24"},
            "limits": {"memlock": "as_is", "nofile": 0},
            "ntp_servers": ["192.0.2.1"],
            "training_user": "trainer",
        },
    ],
    ids=["little", "much"],
)
def test_role_takes_its_inputs(requested):
    spec = yaml.safe_load((ROOT / "roles/guest_vm/meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    reported = {f"guest_vm_{name}": value for name, value in guest(guests=requested).items() if name not in BESIDE}
    assert ArgumentSpecValidator(spec["options"]).validate(reported).error_messages == []
    assert set(reported) == set(spec["options"]) - {"guest_vm_site"}


def test_playbook_hands_the_role_everything_that_is_reported():
    assert handed_over("guests", "guest_vm") == set(guest()) - BESIDE


def test_a_stage_can_be_left_out_whatever_the_site_says_of_it():
    reported = site(runtime={"engine": "docker"})
    assert site_guests(reported, without=["guests"])["stages"] == ["runtime"]
    assert site_guests(reported, seen(), without=["runtime"])["stages"] == ["guests"]


def test_guests_that_are_not_there_or_have_no_address_are_decided_on_later():
    looked = seen(vm("job-01", address=""))
    assert site_guests(site(), looked)["later"] == ["job-02", "job-01"]
    assert site_guests(site(), seen())["later"] == []


@pytest.mark.parametrize(
    "path, guests, variables, planned, later",
    [
        pytest.param("sriov", {}, {}, True, ["job-01"], id="the stage machines may add the adapter"),
        pytest.param("sriov", {}, {}, False, [], id="a run reports the problem"),
        pytest.param("sriov", {}, {"job-01": {"data_mac": "00:50:56:a1:00:09"}}, True, [], id="the inventory names it"),
        pytest.param("sriov", {"rdma": {"stack": "ignore"}}, {}, True, [], id="the stage leaves RDMA unchanged"),
        pytest.param("tcp", {}, {}, True, [], id="TCP needs no adapter of its own"),
    ],
)
def test_a_guest_without_its_adapter_is_decided_on_later_in_check_mode(path, guests, variables, planned, later):
    requested = site(network={"path": path}, guests={"user": "ops", **guests}, vms=[{"name": "job-01"}])
    reported = site_guests(requested, seen(vm("job-01", adapters=[])), ["job-01"], variables, planned=planned)
    assert (reported["later"], sorted(reported["reached"])) == (later, [] if later else ["job-01"])


@pytest.mark.parametrize(
    "said",
    [
        {"ansible_host_key_checking": False},
        {"ansible_ssh_host_key_checking": "no"},
        {"ansible_ssh_common_args": "-o StrictHostKeyChecking=no"},
        {"ansible_ssh_args": "-o UserKnownHostsFile=/dev/null"},
    ],
)
def test_known_host_keys_that_the_inventory_does_not_check_are_refused(said):
    seen = {"vms": [vm("job-01"), vm("job-02", 2)]}
    variables = {"job-01": {"inventory_hostname": "job-01", **said}}
    found = {
        mode: site_guests(site(guests={"user": "ops", "host_keys": mode}), seen, ["job-01"], variables)["problems"]
        for mode in ("known", "accept_new")
    }
    assert [one for one in found["known"] if "site.guests.host_keys is known, but the inventory sets" in one] != []
    assert [one for one in found["accept_new"] if "host_keys" in one] == []
