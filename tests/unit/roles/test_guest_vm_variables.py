"""What the role guest_vm works out of its inputs and of what it has read: packages, limits, zones, restarts, rules."""

from __future__ import annotations

import pytest

from unit.roles.variables import value_of

UBUNTU = {"os_family": "Debian"}
SRIOV = {"guest_vm_data_path": "sriov", "guest_vm_data_interface": {"mac": "00:50:56:9a:00:02"}}
OFED = {**SRIOV, "guest_vm_rdma": {"stack": "ofed"}}


def found(name, **given):
    return value_of("guest_vm", f"__guest_vm_{name}", **{"ansible_facts": UBUNTU, **given})


@pytest.mark.parametrize(
    "given, rdma, ofed",
    [
        ({}, False, False),
        (SRIOV, True, False),
        (OFED, True, True),
        ({**SRIOV, "guest_vm_rdma": {"stack": "ignore"}}, False, False),
        ({"guest_vm_rdma": {"stack": "ofed"}}, False, False),
    ],
    ids=["TCP", "RDMA", "OFED", "a stack that is left alone", "OFED without RDMA"],
)
@pytest.mark.parametrize("family", ["Debian", "RedHat"])
def test_packages_of_rdma_are_there_where_the_data_path_needs_them(family, given, rdma, ofed):
    expected = found("wanted_packages", **{**given, "ansible_facts": {"os_family": family}})
    assert ("chrony" in expected, "rdma-core" in expected, "doca-ofed" in expected) == (True, rdma, ofed)


def test_a_package_that_is_removed_or_half_installed_is_missing():
    lines = ["ii chrony", "hi iproute2", "rc iputils-ping", "iF openssh-client"]
    assert found("missing", __guest_vm_packages_seen={"stdout_lines": lines}) == ["iputils-ping", "openssh-client"]


@pytest.mark.parametrize(
    "limits, raised, of_logins, of_services, shown",
    [
        (
            {},
            {"memlock": "unlimited", "nofile": 131072},
            [
                *("soft memlock unlimited", "hard memlock unlimited"),
                *("soft nofile 131072", "hard nofile 131072", "soft stack 8192"),
            ],
            ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"],
            ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=131072"],
        ),
        (
            {"memlock": 64, "nofile": 0, "stack_kb": 0},
            {"memlock": 65536},
            ["soft memlock 64", "hard memlock 64"],
            ["DefaultLimitMEMLOCK=64K"],
            ["DefaultLimitMEMLOCK=65536"],
        ),
        ({"memlock": "as_is", "nofile": 0, "stack_kb": 0}, {}, [], [], []),
    ],
    ids=["as nobody says otherwise", "in kB", "left alone"],
)
def test_limits_are_the_same_for_logins_and_services_each_in_its_words(limits, raised, of_logins, of_services, shown):
    names = ("raised", "limit_lines", "service_lines", "service_shown")
    assert [found(name, guest_vm_limits=limits) for name in names] == [raised, of_logins, of_services, shown]


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
    given = {**SRIOV, "guest_vm_rdma": rdma, "__guest_vm_rdma_driven": driven}
    assert found("with_peermem", **given) is with_peermem


@pytest.mark.parametrize(
    "driver, copied",
    [
        ({"package": "/srv/nvidia.deb"}, True),
        ({"package": "https://depot.example/nvidia.deb"}, False),
        ({"package": "nvidia-driver-550"}, False),
        ({"package": "/srv/nvidia.deb", "source": "guest"}, False),
        ({"package": "nvidia.deb", "source": "copy"}, True),
        ({}, False),
    ],
    ids=["path", "address", "name", "path on the guest", "copied by request", "none"],
)
def test_a_driver_on_the_controller_is_copied_to_the_guest(driver, copied):
    assert found("copies_driver", guest_vm_driver=driver) is copied


def zone(name, target="ACCEPT", interfaces="", sources=""):
    return f"{name}\n  target: {target}\n  interfaces: {interfaces}\n  sources: {sources}"


@pytest.mark.parametrize(
    "zones, default, names",
    [
        ([zone("trusted (active)", interfaces="ens192 ens224")], "public", ["trusted"]),
        ([zone("public (active)", "default", "ens224")], "public", []),
        ([zone("trusted", interfaces="ens2241")], "public", []),
        ([zone("trusted (active)", sources="192.0.2.0/24")], "public", ["trusted"]),
        ([zone("trusted")], "trusted", ["trusted"]),
        ([zone("trusted"), zone("public (active)", "default", "ens224")], "trusted", []),
        ([], "public", []),
    ],
    ids=["adapter", "closed", "a longer name", "addresses", "of all others", "not of this one", "no firewall"],
)
def test_a_zone_that_lets_in_everything_counts_where_the_data_path_belongs_to_it(zones, default, names):
    given = {
        "__guest_vm_zones": {"stdout": "\n\n".join(zones)},
        "__guest_vm_default_zone": {"stdout": default},
        "__guest_vm_nic_read": {"interface": {"name": "ens224"}},
    }
    assert [one.split()[0] for one in found("zones_of_path", **given)] == names


@pytest.mark.parametrize(
    "given, waits",
    [
        ({**OFED, "__guest_vm_missing_before": ["doca-ofed"], "__guest_vm_rdma_seen": {}}, True),
        ({**OFED, "__guest_vm_rdma_seen": {"rdma": {"outdated": ["mlx5_core"]}}}, True),
        ({**OFED, "__guest_vm_rdma_seen": {"rdma": {"outdated": []}}}, False),
        ({**SRIOV, "__guest_vm_rdma_seen": {"rdma": {"outdated": ["mlx5_core"]}}}, False),
    ],
    ids=["just installed", "by a run that was killed", "loaded", "no OFED"],
)
def test_drivers_of_ofed_wait_for_a_restart_until_they_are_loaded(given, waits):
    assert found("waiting", **given) == (["network drivers of OFED"] if waits else [])


def test_what_the_driver_waits_for_is_named():
    pending = [{"what": "nouveau"}, {"what": "module"}]
    assert found("waiting", __guest_vm_driver_now={"driver": {"pending": pending}}) == [
        "driver: nouveau",
        "driver: module",
    ]


PEERS = [{"name": "train-01"}, {"name": "train-02"}]


@pytest.mark.parametrize(
    "user, peers, hosts, known",
    [
        ("ai", PEERS, ["train-01", "train-02"], True),
        ("ai", PEERS, ["train-01"], False),
        ("", PEERS, ["train-01", "train-02"], False),
        ("ai", [], ["train-01"], False),
    ],
    ids=["all in the play", "one by its limit", "nobody", "alone"],
)
def test_guests_are_made_known_to_each_other_where_all_of_them_are_there(user, peers, hosts, known):
    assert found("mesh", guest_vm_user=user, guest_vm_peers=peers, ansible_play_hosts=hosts) is known


@pytest.mark.parametrize(
    "given, adapter",
    [
        ({}, "00:50:56:9a:00:02"),
        ({"__guest_vm_nic_read": {"interface": {"name": "ens224"}}}, "ens224"),
        ({"__guest_vm_nic_now": {"skipped": True}, "__guest_vm_nic_read": {"interface": {"name": "ens224"}}}, "ens224"),
        (
            {
                "__guest_vm_nic_now": {"interface": {"name": "ens1"}},
                "__guest_vm_nic_read": {"interface": {"name": "e"}},
            },
            "ens1",
        ),
    ],
    ids=["unread", "read", "skipped and read", "set up"],
)
def test_the_adapter_of_the_data_path_is_named_as_it_was_read_last(given, adapter):
    assert found("adapter", **SRIOV, **given) == adapter


@pytest.mark.parametrize(
    "given, reads",
    [
        ({**SRIOV, "guest_vm_driver": {"package": "x"}}, (True, True, True)),
        (
            {
                **SRIOV,
                "guest_vm_driver": {"package": "x"},
                **{f"__guest_vm_{name}_now": {"changed": False} for name in ("nic", "driver", "roce")},
            },
            (False, False, False),
        ),
        ({**SRIOV, "__guest_vm_nic_now": {"changed": False}, "__guest_vm_restarted": {"rebooted": True}}, None),
        ({}, (False, False, False)),
    ],
    ids=["skipped", "unchanged", "restarted", "not asked for"],
)
def test_the_proof_reads_again_what_was_changed_skipped_or_restarted(given, reads):
    read = found("reads", **given)
    if reads is None:
        assert read["adapter"] is True
    else:
        assert (read["adapter"], read["driver"], read["roce"]) == reads


@pytest.mark.parametrize(
    "restarted, pending, reboots",
    [({"rebooted": True}, [], 1), ({"skipped": True}, ["driver: module"], 0), ({}, None, 0)],
)
def test_what_waits_is_pending_until_the_restart(restarted, pending, reboots):
    given = {"__guest_vm_driver_now": {"driver": {"pending": [{"what": "module"}]}}}
    now = found("now", **given, __guest_vm_restarted=restarted)
    assert (now["pending"], now["reboots"]) == (["driver: module"] if pending is None else pending, reboots)


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, []),
        (OFED, []),
        ({**OFED, "guest_vm_data_path": "pvrdma"}, ["data path is pvrdma"]),
        ({**SRIOV, "guest_vm_data_path": "pvrdma", "guest_vm_rdma": {"gpudirect": "dmabuf"}}, ["cannot reach"]),
        ({"guest_vm_rdma": {"gpudirect": "dmabuf"}}, []),
        ({**SRIOV, "guest_vm_rdma": {"gpudirect": "peermem"}}, ["peermem and the stack is inbox"]),
        ({**OFED, "guest_vm_rdma": {"stack": "ofed", "gpudirect": "peermem"}}, []),
        ({"guest_vm_data_path": "sriov"}, ["mac is missing"]),
        ({"guest_vm_data_path": "sriov", "guest_vm_rdma": {"stack": "ignore"}}, []),
        ({"guest_vm_driver": {"source": "copy"}}, ["package is missing"]),
        ({"guest_vm_driver": {"package": "x", "signing_key": "k"}}, ["one of signing_key"]),
        ({"guest_vm_driver": {"package": "x", "signing_key": "k", "signing_certificate": "c"}}, []),
        ({"guest_vm_limits": {"memlock": "as_is"}}, []),
        ({"guest_vm_limits": {"memlock": 64}}, []),
        ({"guest_vm_limits": {"memlock": "64k"}}, ["memlock is 64k"]),
        ({"guest_vm_limits": {"memlock": 0}}, ["memlock is 0"]),
        ({"guest_vm_licence": {"token": "t"}}, []),
        ({"guest_vm_licence": {"token_file": "f"}}, []),
        ({"guest_vm_licence": {"token": "t", "token_file": "f"}}, ["either token or token_file"]),
        ({"guest_vm_licence": {"feature": "vcs"}}, ["either token or token_file"]),
    ],
    ids=str,
)
def test_inputs_that_cannot_work_together_are_refused_with_a_reason(given, words):
    wrong = [rule["why"] for rule in found("rules", **given) if not rule["right"]]
    assert len(wrong) == len(words), wrong
    assert all(word in " ".join(why.split()) for word, why in zip(words, wrong, strict=True)), wrong
