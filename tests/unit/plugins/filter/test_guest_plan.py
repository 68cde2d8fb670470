"""What a guest needs for a training: packages, limits, zones, restarts, and inputs that cannot work together."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

guest_plan = FilterModule().filters()["guest_plan"]

MAC = "00:50:56:9a:00:02"
SRIOV = {"data_path": "sriov", "data_interface": {"mac": MAC}}
OFED = {**SRIOV, "rdma": {"stack": "ofed"}}
INPUTS = {
    "data_interface": {},
    "data_path": "tcp",
    "driver": {},
    "licence": {},
    "limits": {},
    "peers": [],
    "rdma": {},
    "user": "",
}
READ = (
    *("packages", "packages_proof", "limits_proof", "nic", "nic_read", "nic_proof", "zones", "default_zone", "rdma"),
    *("rdma_driven", "rdma_now", "modules_proof", "driver", "driver_again", "driver_proof", "restarted", "licence"),
    *("user", "roce", "roce_proof"),
)


def plan(inputs=None, family="Debian", **seen):
    named = {f"guest_vm_{name}": value for name, value in {**INPUTS, **(inputs or {})}.items()}
    before = copy.deepcopy(named)
    answer = guest_plan(named, {"os_family": family}, {"play_hosts": [], **dict.fromkeys(READ, {}), **seen}, "train-01")
    assert named == before
    return answer


@pytest.mark.parametrize(
    "given, rdma, ofed",
    [
        ({}, False, False),
        (SRIOV, True, False),
        (OFED, True, True),
        ({**SRIOV, "rdma": {"stack": "ignore"}}, False, False),
        ({"rdma": {"stack": "ofed"}}, False, False),
    ],
    ids=["TCP", "RDMA", "OFED", "a stack that is left alone", "OFED without RDMA"],
)
@pytest.mark.parametrize("family", ["Debian", "RedHat"])
def test_packages_of_rdma_are_there_where_the_data_path_needs_them(family, given, rdma, ofed):
    found = plan(given, family)
    missing = found["packages"]["missing"]
    assert ("chrony" in missing, "rdma-core" in missing, "doca-ofed" in missing) == (True, rdma, ofed)
    assert found["packages"]["query"][-len(missing) :] == missing
    assert found["rdma"]["due"] is rdma


def test_a_package_that_is_removed_or_half_installed_is_missing():
    lines = ["ii chrony 4.5", "hi iproute2 6.1", "rc iputils-ping 3", "iF openssh-client 1:9.2", "no packages found"]
    assert plan(packages={"stdout_lines": lines})["packages"]["missing"] == ["iputils-ping", "openssh-client"]


def test_rpm_lists_what_is_installed_in_its_own_words():
    lines = ["rpm chrony 4.5-1.el9", "package iproute is not installed", "rpm iputils 1-2", "rpm openssh-clients 8-1"]
    assert plan({}, "RedHat", packages={"stdout_lines": lines})["packages"]["missing"] == ["iproute"]


@pytest.mark.parametrize(
    "family, name, tool, status", [("Debian", "debian", "dpkg-query", 1), ("RedHat", "redhat", "rpm", 4)]
)
def test_each_family_has_its_list_of_packages_and_its_server_of_time(family, name, tool, status):
    found = plan({}, family)
    assert (found["family"], found["packages"]["query"][0]) == (name, tool)
    assert found["packages"]["highest_status"] == status
    assert found["chrony"]["file"] == ("/etc/chrony/chrony.conf" if name == "debian" else "/etc/chrony.conf")


@pytest.mark.parametrize(
    "limits, raised, of_logins, of_services, shown",
    [
        (
            {},
            ["memlock unlimited", "nofile 131072"],
            [
                *("soft memlock unlimited", "hard memlock unlimited"),
                *("soft nofile 131072", "hard nofile 131072", "soft stack 8192"),
            ],
            ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"],
            ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"],
        ),
        (
            {"memlock": 64, "nofile": 0, "stack_kb": 0},
            ["memlock 65536"],
            ["soft memlock 64", "hard memlock 64"],
            ["DefaultLimitMEMLOCK=64K"],
            ["DefaultLimitMEMLOCK=65536"],
        ),
        ({"memlock": "as_is", "nofile": 0, "stack_kb": 0}, [], [], [], []),
    ],
    ids=["as nobody says otherwise", "in kB", "left alone"],
)
def test_limits_are_the_same_for_logins_and_services_each_in_its_words(limits, raised, of_logins, of_services, shown):
    found = plan({"limits": limits})["limits"]
    assert [found[name] for name in ("raised", "logins", "services", "shown")] == [
        raised,
        of_logins,
        of_services,
        shown,
    ]


def test_limits_are_tried_before_they_are_set_and_read_from_systemd():
    limits = plan({"limits": {"memlock": 64}})["limits"]
    assert limits["trial"] == ["prlimit", "--memlock=65536:65536", "--nofile=131072:131072", "true"]
    assert limits["properties"] == "DefaultLimitMEMLOCK,DefaultLimitNOFILE"
    assert limits["memlock"] == "64"


@pytest.mark.parametrize(
    "user, locks, words",
    [
        ("ai", {"hard_kb": -1}, ""),
        ("ai", {"hard_kb": 64}, "Their limit is 64 kB."),
        ("ai", None, "A test login of ai failed. Run `su -l ai` as root to see the reason."),
        ("", None, ""),
        ("", {"hard_kb": 64}, "Their limit is 64 kB."),
    ],
)
def test_a_login_that_cannot_lock_enough_memory_has_its_reason(user, locks, words):
    assert plan({"user": user}, rdma_now={"rdma": {"memlock": locks}})["limits"]["problem"] == words


@pytest.mark.parametrize(
    "rdma, is_open, with_peermem",
    [
        ({"gpudirect": "peermem", "stack": "ofed"}, True, True),
        ({"gpudirect": "auto", "stack": "ofed"}, False, True),
        ({"gpudirect": "auto", "stack": "ofed"}, True, False),
        ({"gpudirect": "auto", "stack": "ofed"}, None, False),
        ({"gpudirect": "auto", "stack": "inbox"}, False, False),
        ({"gpudirect": "off", "stack": "ofed"}, False, False),
    ],
)
def test_peermem_is_for_drivers_of_gpus_that_are_not_open(rdma, is_open, with_peermem):
    driven = {"rdma": {"gpudirect": {"open_module": is_open}}}
    assert plan({**SRIOV, "rdma": rdma}, rdma_driven=driven)["rdma"]["peermem"] is with_peermem


@pytest.mark.parametrize(
    "driver, copied, package, source",
    [
        ({"package": "/srv/nvidia.deb"}, True, "/var/tmp/nvidia.deb", "file"),
        ({"package": "https://depot.example/nvidia.deb"}, False, "https://depot.example/nvidia.deb", "auto"),
        ({"package": "nvidia-driver-550"}, False, "nvidia-driver-550", "auto"),
        ({"package": "/srv/nvidia.deb", "source": "guest"}, False, "/srv/nvidia.deb", "guest"),
        ({"package": "nvidia.deb", "source": "copy"}, True, "/var/tmp/nvidia.deb", "file"),
        ({}, False, "", "auto"),
    ],
    ids=["path", "address", "name", "path on the guest", "copied by request", "none"],
)
def test_a_driver_on_the_controller_is_copied_to_the_guest(driver, copied, package, source):
    found = plan({"driver": driver})["driver"]
    assert (found["copied"], found["package"], found["source"]) == (copied, package, source)


@pytest.mark.parametrize(
    "given, there", [({}, ""), ({"ca_file": ""}, ""), ({"ca_file": "ca.pem"}, "/var/lib/aiready.vsphere/driver-ca.pem")]
)
def test_the_authority_of_the_server_of_the_driver_is_copied_where_it_is_given(given, there):
    assert plan({"driver": {"package": "x", **given}})["driver"]["ca_file"] == there


def zone(name, target="ACCEPT", interfaces="", sources=""):
    return f"{name}\n  target: {target}\n  interfaces: {interfaces}\n  sources: {sources}"


@pytest.mark.parametrize(
    "zones, default, firewalled",
    [
        ([zone("trusted (active)", interfaces="ens192 ens224")], "public", False),
        ([zone("public (active)", "default", "ens224")], "public", True),
        ([zone("trusted", interfaces="ens2241")], "public", True),
        ([zone("trusted (active)", sources="192.0.2.0/24")], "public", False),
        ([zone("trusted")], "trusted", False),
        ([zone("trusted")], "trust", True),
        ([zone("trusted"), zone("public (active)", "default", "ens224")], "trusted", True),
        ([zone("public (active)", "default", "ens224"), zone("dmz", sources="192.0.2.0/24")], "public", False),
        ([], "public", True),
    ],
    ids=[
        *("adapter", "closed", "a longer name", "addresses", "of all others", "a shorter default"),
        *("not of this one", "addresses beside it", "no zones"),
    ],
)
def test_a_zone_that_lets_in_everything_counts_where_the_data_path_belongs_to_it(zones, default, firewalled):
    seen = {
        "zones": {"rc": 0, "stdout": "\n\n".join(zones)},
        "default_zone": {"stdout": default},
        "nic_read": {"interface": {"name": "ens224"}},
    }
    assert plan(SRIOV, **seen)["nic"]["firewalled"] is firewalled


@pytest.mark.parametrize("zones", [{}, {"rc": 252, "stdout": ""}, {"skipped": True}])
def test_a_guest_without_firewalld_lets_a_training_through(zones):
    assert plan(SRIOV, zones=zones)["nic"]["firewalled"] is False


@pytest.mark.parametrize(
    "given, seen, waits",
    [
        (OFED, {"packages": {"rc": 1, "stdout_lines": []}}, True),
        (OFED, {"rdma": {"rdma": {"outdated": ["mlx5_core"]}}}, True),
        (OFED, {"rdma": {"rdma": {"outdated": []}}}, False),
        (OFED, {}, False),
        (SRIOV, {"rdma": {"rdma": {"outdated": ["mlx5_core"]}}}, False),
    ],
    ids=["just installed", "by a run that was killed", "loaded", "not read", "no OFED"],
)
def test_drivers_of_ofed_wait_for_a_restart_until_they_are_loaded(given, seen, waits):
    found = plan(given, **seen)
    assert found["waiting"] == (["network drivers of OFED"] if waits else [])
    assert found["rdma"]["ofed_waits"] is waits


def test_what_the_driver_waits_for_is_named():
    pending = [{"what": "nouveau"}, {"what": "module"}]
    assert plan(driver={"driver": {"pending": pending}})["waiting"] == ["driver: nouveau", "driver: module"]


@pytest.mark.parametrize(
    "path, modules, missing",
    [
        ("tcp", [], []),
        ("pvrdma", ["vmw_pvrdma", "rdma_cm", "rdma_ucm"], ["vmw_pvrdma", "rdma_ucm"]),
        ("passthrough", ["mlx5_ib", "rdma_cm", "rdma_ucm"], ["mlx5_ib", "rdma_ucm"]),
    ],
)
def test_modules_of_the_data_path_are_loaded_where_they_are_not(path, modules, missing):
    rdma = plan({**SRIOV, "data_path": path}, rdma={"rdma": {"modules": ["rdma_cm"]}})["rdma"]
    assert (rdma["modules"], rdma["not_loaded"]) == (modules, missing)


def device(port=None, **more):
    port = {"interfaces": ["ens224"], "state": "active", "roce_v2_gid": "::1", **(port or {})}
    return {"ports": [port], "numa_node": None, **more}


@pytest.mark.parametrize(
    "devices, problem",
    [
        ([device()], ""),
        ([device({"interfaces": ["ens192"]}), device()], ""),
        ([], "has none"),
        ([device({"interfaces": ["ens192"]})], "has none"),
        ([device({"state": "down"})], "is down"),
        ([device({"roce_v2_gid": None})], "has no RoCE v2 GID, which needs an IPv4 address"),
    ],
    ids=["works", "second device", "no device", "another adapter", "down", "no address"],
)
def test_an_adapter_without_rdma_that_works_has_its_reason(devices, problem):
    seen = {"nic": {"interface": {"name": "ens224"}}, "rdma_now": {"rdma": {"devices": devices, "modules": ["a"]}}}
    rdma = plan(SRIOV, **seen)["rdma"]
    assert (rdma["problem"], rdma["has_port"], rdma["loaded"]) == (problem, problem != "has none", ["a"])


@pytest.mark.parametrize(
    "gpus, nics, far",
    [([0], [1, 1], True), ([0, 1], [1], False), ([None], [1], False), ([0], [None], False), ([], [], False)],
)
def test_an_adapter_on_another_numa_node_than_the_gpus_is_far(gpus, nics, far):
    seen = {"numa": {"gpus": [{"node": node} for node in gpus]}, "devices": [device(numa_node=node) for node in nics]}
    rdma = plan(SRIOV, rdma_now={"rdma": seen})["rdma"]
    assert rdma["far"] is far
    if far:
        assert (rdma["gpu_nodes"], rdma["nic_nodes"]) == ([0], [1])


PEERS = [{"name": "train-01"}, {"name": "train-02"}]


@pytest.mark.parametrize(
    "user, peers, hosts, known, absent",
    [
        ("ai", PEERS, ["train-01", "train-02"], True, []),
        ("ai", PEERS, ["train-01"], False, ["train-02"]),
        ("", PEERS, ["train-01", "train-02"], False, []),
        ("ai", [], ["train-01"], False, []),
    ],
    ids=["all in the play", "one by its limit", "nobody", "alone"],
)
def test_guests_are_made_known_to_each_other_where_all_of_them_are_there(user, peers, hosts, known, absent):
    found = plan({"user": user, "peers": peers}, play_hosts=hosts)["peers"]
    assert (found["known"], found["absent"]) == (known, absent)


@pytest.mark.parametrize(
    "seen, name",
    [
        ({}, MAC),
        ({"nic_read": {"interface": {"name": "ens224"}}}, "ens224"),
        ({"nic": {"skipped": True}, "nic_read": {"interface": {"name": "ens224"}}}, "ens224"),
        ({"nic": {"interface": {"name": "ens1"}}, "nic_read": {"interface": {"name": "e"}}}, "ens1"),
    ],
    ids=["unread", "read", "skipped and read", "set up"],
)
def test_the_adapter_of_the_data_path_is_named_as_it_was_read_last(seen, name):
    assert plan(SRIOV, **seen)["nic"]["name"] == name


@pytest.mark.parametrize(
    "given, mtu, address", [({}, 0, ""), ({"mtu": 9000, "address": "198.51.100.1/24"}, 9000, "198.51.100.1/24")]
)
def test_the_adapter_keeps_what_no_input_says_otherwise(given, mtu, address):
    nic = plan({"data_interface": {"mac": MAC, **given}})["nic"]
    assert (nic["mac"], nic["mtu"], nic["address"]) == (MAC, mtu, address)


UNCHANGED = {"changed": False}
STEPS = dict.fromkeys(("nic", "driver", "roce"), UNCHANGED)
WITH_DRIVER = {**SRIOV, "driver": {"package": "x"}}


@pytest.mark.parametrize(
    "given, seen, reads",
    [
        (WITH_DRIVER, {}, {"adapter", "driver", "roce"}),
        (WITH_DRIVER, STEPS, set()),
        (SRIOV, {**STEPS, "restarted": {"rebooted": True}}, {"adapter"}),
        ({}, {}, set()),
    ],
    ids=["skipped", "unchanged", "restarted", "not asked for"],
)
def test_the_proof_reads_again_what_was_changed_skipped_or_restarted(given, seen, reads):
    found = plan(given, **seen)["reads"]
    assert {name for name, again in found.items() if again} - {"packages"} == reads


BASE = [f"ii {name} 1" for name in ("chrony", "iproute2", "iputils-ping", "openssh-client")]


@pytest.mark.parametrize(
    "packages, again",
    [({}, True), ({"stdout_lines": BASE[1:]}, True), ({"stdout_lines": BASE}, False)],
    ids=["not read", "one was missing", "none was missing"],
)
def test_the_proof_reads_packages_again_unless_all_were_there(packages, again):
    assert plan(packages=packages)["reads"]["packages"] is again


@pytest.mark.parametrize(
    "restarted, pending, reboots",
    [({"rebooted": True}, [], 1), ({"skipped": True}, ["driver: module"], 0), ({}, ["driver: module"], 0)],
)
def test_what_waits_is_pending_until_the_restart(restarted, pending, reboots):
    now = plan(driver={"driver": {"pending": [{"what": "module"}]}}, restarted=restarted)["now"]
    assert (now["pending"], now["reboots"]) == (pending, reboots)


def test_what_the_role_leaves_behind_is_what_was_found_in_the_end():
    seen = {
        "driver": {"driver": {"after": {"version": "1"}}},
        "driver_again": {"driver": {"after": {"version": "2"}}},
        "licence": {"licence": {"after": {"state": "licensed"}}},
        "nic": {"interface": {"name": "ens224", "after": {"addresses": ["198.51.100.1/24"], "mtu": 9000}}},
        "roce": {"roce": {"device": "mlx5_0", "after": {"traffic_class": 106}}},
    }
    assert plan(SRIOV, **seen)["now"] == {
        "driver": {"version": "2"},
        "licence": {"state": "licensed"},
        "interface": {"name": "ens224", "addresses": ["198.51.100.1/24"], "mtu": 9000},
        "rdma": {"device": "mlx5_0", "traffic_class": 106},
        "pending": [],
        "reboots": 0,
    }
    empty = {"driver": {}, "licence": {}, "interface": {}, "rdma": {}, "pending": [], "reboots": 0}
    assert plan(SRIOV, driver_again={"skipped": True})["now"] == empty


RDMA = [f"ii {name} 1" for name in ("rdma-core", "ibverbs-providers", "ibverbs-utils", "rdmacm-utils")]
SHOWN = {"stdout_lines": ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"]}


@pytest.mark.parametrize(
    "given, seen, gaps",
    [
        ({}, {"packages": {"stdout_lines": BASE}, "limits_proof": SHOWN}, []),
        (
            {},
            {
                "packages_proof": {"stdout_lines": BASE[1:]},
                "limits_proof": {"stdout_lines": [SHOWN["stdout_lines"][0]]},
            },
            [
                ("packages", "chrony: requested installed, found none"),
                ("limits", "DefaultLimitNOFILE: requested 131072, found none"),
            ],
        ),
        (
            {**WITH_DRIVER, "user": "ai", "licence": {"token": "t"}, "limits": {"memlock": "as_is", "nofile": 0}},
            {
                "packages_proof": {"stdout_lines": [*BASE, *RDMA]},
                "modules_proof": {"rdma": {"modules": ["mlx5_ib", "rdma_cm"]}},
                "driver": {"driver": {"pending": [{"what": "module"}]}, "changed": False},
            },
            [
                ("adapter", "adapter: requested verified, found not read"),
                ("rdma", "rdma_ucm: requested loaded, found none"),
                ("restart", "driver: module: requested effective, found waits for a restart"),
                ("licence", "licence: requested requested, found none"),
                ("user", "user: requested ai, found none"),
                ("roce", "roce: requested verified, found not read"),
            ],
        ),
        (
            {"user": "ai", "licence": {"token": "t"}, "limits": {"memlock": "as_is", "nofile": 0}},
            {
                "packages": {"stdout_lines": BASE},
                "driver": {"driver": {"pending": [{"what": "module"}]}},
                "restarted": {"rebooted": True},
                "user": {"name": "ai"},
                "licence": {"licence": {"after": {}}},
            },
            [],
        ),
    ],
    ids=["as requested", "packages and limits", "nothing was done", "restarted"],
)
def test_the_proof_names_what_is_not_as_requested(given, seen, gaps):
    found = plan(given, **seen)["gaps"]
    assert [(gap["step"], gap["text"]) for gap in found] == [(step, f"train-01: {text}") for step, text in gaps]
