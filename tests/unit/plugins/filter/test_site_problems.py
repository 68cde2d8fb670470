"""What a site is refused for, and with which words."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_problems = FilterModule().filters()["site_problems"]

SOUND = {
    "vcenter": {"hostname": "vcenter.example.org", "username": "automation@vsphere.local"},
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"name": "train-01"}],
}
A100_40_SLICED = "grid_a100-40c, grid_a100-20c, grid_a100-10c, grid_a100-8c, grid_a100-5c, grid_a100-4c"


def site(**changes):
    """A sound site with some of its keys replaced; None takes one away, dictionaries are merged."""
    changed = copy.deepcopy(SOUND)
    for key, value in changes.items():
        changed[key] = {**changed[key], **value} if isinstance(value, dict) and key in changed else value
    return changed


SOUND_SITES = {
    "small": site(),
    "no vCenter, all from the environment": {key: SOUND[key] for key in ("gpu", "vms")},
    "IPv6 address": site(vcenter={"hostname": "2001:db8::1"}),
    "numbers as AWX surveys give them": site(gpu={"per_vm": "2"}, vms=[{"prefix": "t-", "count": "3"}]),
    "smallest size of a setting": site(gpu={"mmio_size_gb": 1}),
    "smallest limit of a VM": site(gpu={"max_per_vm": 1}),
    "MIG": site(gpu={"mode": "mig", "profile": "grid_a100-3-20c"}),
    "sizes and slices mixed in one VM": site(
        gpu={"mode": "mig", "profile": None}, vms=[{"name": "a", "profiles": ["grid_a100-4-20c", "grid_a100-2-10c"]}]
    ),
    "rows that follow each other": site(
        vms=[{"prefix": "t-", "count": 2}, {"prefix": "t-", "first": 3, "count": 2}, {"path": "/DC/vm/t-01"}]
    ),
    "graphics profile of a board whose table is not complete": site(gpu={"profile": "grid_a100-40q"}),
    "hosts by passthrough": site(gpu={"mode": "passthrough", "profile": None}),
    "RDMA by passthrough": site(network={"path": "passthrough", "nics": ["0000:3b:00.0"]}),
    "waves by share": site(hosts={"serial": "25%"}),
    "board that is not in the table": site(gpu={"profile": "nvidia_z900-96c"}),
}


@pytest.mark.parametrize("given", SOUND_SITES.values(), ids=SOUND_SITES.keys())
def test_consistent_site_has_no_problems(given):
    assert site_problems(given) == []


PROBLEMS = {
    "address instead of host name": (
        site(vcenter={"hostname": "https://vcenter.example.org/sdk"}),
        "site.vcenter.hostname: https://vcenter.example.org/sdk is not a plain host name. Remove https:// and "
        "the path, and set the port in site.vcenter.port.",
    ),
    "port in the host name": (
        site(vcenter={"hostname": "vcenter:8443"}),
        "site.vcenter.hostname: vcenter:8443 is not a plain host name. Remove https:// and the path, and set the "
        "port in site.vcenter.port.",
    ),
    "port that is none": (
        site(vcenter={"port": 70000}),
        "site.vcenter.port: 70000 is not a valid port. Use a number from 1 to 65535.",
    ),
    "trust and distrust": (
        site(vcenter={"validate_certs": False, "ca_file": "ca.pem"}),
        "site.vcenter: ca_file names a trusted authority, but validate_certs is false, which disables the "
        "verification. Remove validate_certs to verify the certificate, or ca_file if you accept the risk.",
    ),
    "profiles with passthrough": (
        site(gpu={"mode": "passthrough"}, vms=[{"name": "a", "profiles": ["grid_a100-40c"]}]),
        "site.gpu.profile and site.vms[0].profiles: profiles are for shared GPUs, but site.gpu.mode is "
        "passthrough. Remove them, or set the mode to vgpu with a profile of a whole GPU, such as grid_a100-40c.",
    ),
    "time-sliced profile in mode mig": (
        site(gpu={"mode": "mig", "profile": "grid_a100-20c"}),
        "site.gpu.profile: grid_a100-20c is time-sliced, but site.gpu.mode is mig. Set the mode to vgpu, or choose a "
        "MIG-backed profile such as grid_a100-4-20c.",
    ),
    "MIG-backed profile in mode vgpu": (
        site(gpu={"profile": "grid_a100-3-20c"}),
        "site.gpu.profile: grid_a100-3-20c is MIG-backed, but site.gpu.mode is vgpu. Set the mode to mig, or choose a "
        "time-sliced profile such as grid_a100-20c.",
    ),
    "mode mig for a board without MIG": (
        site(gpu={"mode": "mig", "profile": "nvidia_a40-48c"}),
        "site.gpu.profile: nvidia_a40-48c is time-sliced, but site.gpu.mode is mig. Set the mode to vgpu.",
    ),
    "size that the board does not have": (
        site(gpu={"profile": "grid_a100-16c"}),
        "site.gpu.profile: grid_a100-16c does not exist, and the board A100 PCIe 40GB has "
        f"{A100_40_SLICED}. Choose one of them.",
    ),
    "no profile name at all": (
        site(gpu={"profile": "a100-40c"}),
        "site.gpu.profile: a100-40c is not a valid name of a vGPU profile. Use a name as vSphere shows it, such "
        "as grid_a100-40c or grid_a100x-40c.",
    ),
    "no profile for a VM": (
        {"gpu": {"mode": "vgpu"}, "vms": [{"name": "a", "profiles": ["grid_a100-40c"]}, {"prefix": "b-", "count": 1}]},
        "site.gpu.profile: it is not set, and these VMs have no profiles of their own: b-. Set it to a profile "
        "that their hosts offer.",
    ),
    "no GPU for each VM": (
        site(gpu={"per_vm": 0}),
        "site.gpu.per_vm: 0 is not a valid number of GPUs. Use at least 1, and remove VMs without GPUs from site.vms.",
    ),
    "limit that no VM can keep": (
        site(gpu={"max_per_vm": 0}),
        "site.gpu.max_per_vm: 0 is not a valid limit. Use at least 1, or remove it to use the maximum of the "
        "vSphere release.",
    ),
    "limit of a GPU that no profile has": (
        site(gpu={"most_per_gpu": {"a100": 2}}),
        "site.gpu.most_per_gpu has 'a100', which is not the name of a vGPU profile, such as grid_a100-40c.",
    ),
    "size of a setting that is ignored": (
        site(gpu={"mmio": "ignore", "mmio_size_gb": 128}),
        "site.gpu: mmio_size_gb is 128, but mmio is ignore, so the size has no effect. Remove one of them.",
    ),
    "size that vSphere does not take": (
        site(gpu={"mmio_size_gb": 96}),
        "site.gpu.mmio_size_gb: 96 is not a power of two. Use one, such as 128, or remove it to compute it from "
        "the profiles.",
    ),
    "size of nothing": (
        site(gpu={"mmio_size_gb": 0}),
        "site.gpu.mmio_size_gb: 0 is not a power of two. Use one, such as 128, or remove it to compute it from "
        "the profiles.",
    ),
    "two boards in one VM": (
        site(vms=[{"name": "a", "profiles": ["grid_a100-40c", "nvidia_a40-48c"]}]),
        "site.vms[0].profiles: one VM cannot have vGPUs of different boards, and these are grid_a100 and "
        "nvidia_a40. Choose one of them.",
    ),
    "two series in one VM": (
        site(vms=[{"name": "a", "profiles": ["grid_a100-40c", "grid_a100-40q"]}]),
        "site.vms[0].profiles: one VM cannot have vGPUs of different series, and these are C and Q. Choose one "
        "of them.",
    ),
    "no VM": (site(vms=[]), "site.vms: the list is empty. Add at least one VM."),
    "VM without identity": (
        site(vms=[{"profiles": ["grid_a100-40c"]}]),
        "site.vms[0]: it has neither name, path nor prefix. Name one VM by name or path, or several VMs by "
        "prefix and count.",
    ),
    "VM with two identities": (
        site(vms=[{"name": "a", "path": "/DC/vm/a"}]),
        "site.vms[0]: it has name and path. Name one VM by name or path, or several VMs by prefix and count.",
    ),
    "row without an end": (
        site(vms=[{"prefix": "train-"}]),
        "site.vms[0]: the entry with prefix train- has no count. Set count to the number of VMs.",
    ),
    "empty row": (
        site(vms=[{"prefix": "train-", "count": 0}]),
        "site.vms[0].count: 0 is not a valid number of VMs. Use at least 1, or remove the entry.",
    ),
    "row that begins below zero": (
        site(vms=[{"prefix": "train-", "count": 2, "first": -1}]),
        "site.vms[0].first: -1 is below zero. Use 0 or more.",
    ),
    "row with fewer than no digits": (
        site(vms=[{"prefix": "train-", "count": 2, "digits": -1}]),
        "site.vms[0].digits: -1 is below zero. Use 0 or more.",
    ),
    "a VM that is to be there and to go": (
        site(cluster="gpu", vms=[{"prefix": "train-", "count": 2}], absent=["train-02"]),
        "site.absent: train-02 is also in site.vms. Remove it from one of them.",
    ),
    "a VM that is to be there by its path, and to go": (
        site(cluster="gpu", vms=[{"path": "/dc1/vm/training/train-02"}], absent=["train-02"]),
        "site.absent: train-02 is also in site.vms. Remove it from one of them.",
    ),
    "a VM that is to go twice": (
        site(cluster="gpu", absent=["old-01", "old-01"]),
        "site.absent: old-01 is listed 2 times. List each VM once.",
    ),
    "a path of a VM that is to go": (
        site(cluster="gpu", absent=["/dc1/vm/old-01"]),
        "site.absent: /dc1/vm/old-01 is not a valid VM name. Write the name without its folder.",
    ),
    "a prune without a name": (
        site(cluster="gpu", prune="delete"),
        "site.name: it is not set, and site.prune is delete, which finds VMs of the site by its name. Set it, or "
        "use site.absent.",
    ),
    "a prune without a cluster": (
        site(name="lab", prune="refuse"),
        "site.cluster: it is not set, and site.absent and site.prune need it. Set it to the cluster of the hosts.",
    ),
    "a name with a slash": (
        site(name="lab/1"),
        "site.name: it is empty, or contains slashes or control characters. Use a name such as lab.",
    ),
    "count of a single VM": (
        site(vms=[{"name": "train-01", "count": 2}]),
        "site.vms[0]: count requires prefix, but train-01 names one VM. Use prefix instead of name, or remove count.",
    ),
    "relative path": (
        site(vms=[{"path": "vm/train-01"}]),
        "site.vms[0].path: vm/train-01 does not begin with /. Write it as /<datacenter>/vm/<folder>/<name>.",
    ),
    "empty list of profiles": (
        site(vms=[{"name": "a", "profiles": []}]),
        "site.vms[0].profiles: the list is empty. Remove it to use site.gpu.profile.",
    ),
    "VM of a row named again": (
        site(vms=[{"prefix": "train-", "count": 2}, {"name": "train-02"}]),
        "site.vms: train-02 is listed 2 times. List each VM once, with all its profiles.",
    ),
    "name that vSphere does not take": (
        site(vms=[{"name": "n" * 81}]),
        f"site.vms: the name {'n' * 81} has 81 characters, and 80 is the limit. Shorten it.",
    ),
}


@pytest.mark.parametrize("given, problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_contradiction_is_reported_with_a_way_out(given, problem):
    assert site_problems(given) == [problem]


def test_all_contradictions_are_reported_at_once():
    given = site(vcenter={"port": 0}, gpu={"per_vm": 0}, vms=[{"name": "a"}, {"name": "a"}])
    assert [problem.partition(":")[0] for problem in site_problems(given)] == [
        "site.vcenter.port",
        "site.gpu.per_vm",
        "site.vms",
    ]


KNOWN = (
    "Known keys: mode, nvlink, profile, per_vm, unified_memory, memory_reservation, mmio, mmio_size_gb, max_per_vm, "
    "most_per_gpu, passthrough."
)
UNKNOWN = {
    "misspelled at the top": (site(gpuu={}), "site.gpuu: the key is unknown. Did you mean gpu?"),
    "misspelled in a part": (site(gpu={"pervm": 1}), "site.gpu.pervm: the key is unknown. Did you mean per_vm?"),
    "misspelled in a list": (
        site(vms=[{"name": "a"}, {"nmae": "b", "name": "c"}]),
        "site.vms[1].nmae: the key is unknown. Did you mean name?",
    ),
    "of another part": (
        site(portgroup="pg-rdma"),
        "site.portgroup: the key is unknown. Did you mean site.network.portgroup? Indent it below site.network.",
    ),
    "of several parts": (
        site(vcenter={"serial": 1}),
        "site.vcenter.serial: the key is unknown. Did you mean site.hosts.serial or site.fabric.serial? Indent it "
        "below its part.",
    ),
    "made up": (site(gpu={"zzz": 1}), f"site.gpu.zzz: the key is unknown. {KNOWN}"),
    "password in the site": (
        site(vcenter={"password": "x"}),
        "site.vcenter.password: the key is unknown. Set site_vcenter_password in a vault, or VMWARE_PASSWORD in "
        "the environment.",
    ),
    "password of the BMCs in the site": (
        site(hosts={"bmc": {"password": "x"}}),
        "site.hosts.bmc.password: the key is unknown. Set site_bmc_password in a vault, or AIREADY_BMC_PASSWORD "
        "in the environment.",
    ),
    "address of a BMC in the site": (
        site(hosts={"bmc": {"address": "bmc-01"}}),
        "site.hosts.bmc.address: the key is unknown. Set the variable bmc_address of each host.",
    ),
    "no site": (
        {},
        "site: it is not defined. Write it into group_vars/all/site.yml of your inventory, see docs/site.md.",
    ),
}


@pytest.mark.parametrize("given, problem", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_key_is_named_with_what_may_be_meant(given, problem):
    assert site_problems(given) == [problem]


@pytest.mark.parametrize(
    "given, named",
    [
        pytest.param(site(power="off"), "site.power: off is not one of refuse, cycle.", id="choice that is none"),
        pytest.param(
            site(power=False), "site.power: False is not one of refuse, cycle.", id="choice that YAML changed"
        ),
        pytest.param({"vms": [{"name": "a"}]}, "site.gpu: it is missing. Write it below site, with", id="missing part"),
    ],
)
def test_wrong_choice_or_missing_part_is_named(given, named):
    assert named in " ".join(site_problems(given))


KEYS_BELOW = "Write its keys below it, each as 'key: value'."
WRONG_TYPES = {
    "site is a text": ("grid_a100-40c", f"site: expected a dictionary, but there is grid_a100-40c. {KEYS_BELOW}"),
    "site is a list": ([1], f"site: expected a dictionary, but there is a list. {KEYS_BELOW}"),
    "part is a list": (site() | {"gpu": [{}]}, f"site.gpu: expected a dictionary, but there is a list. {KEYS_BELOW}"),
    "part is empty": (site(gpu=None), f"site.gpu: expected a dictionary, but there is no value. {KEYS_BELOW}"),
    "vCenter is a name": (
        site() | {"vcenter": "vc.example.org"},
        f"site.vcenter: expected a dictionary, but there is vc.example.org. {KEYS_BELOW}",
    ),
    "VMs are a dictionary": (
        site() | {"vms": {"prefix": "train-"}},
        "site.vms: expected a list, but there is a dictionary. Begin each entry with a dash.",
    ),
    "VMs are empty": (
        site(vms=None),
        "site.vms: expected a list, but there is no value. Begin each entry with a dash.",
    ),
    "VM is a name": (
        site(vms=[{"name": "a"}, "train-01"]),
        f"site.vms[1]: expected a dictionary, but there is train-01. {KEYS_BELOW}",
    ),
    "VM is empty": (site(vms=[None]), f"site.vms[0]: expected a dictionary, but there is no value. {KEYS_BELOW}"),
    "profiles are a dictionary": (
        site(vms=[{"name": "a", "profiles": {"grid_a100-40c": 2}}]),
        "site.vms[0].profiles: expected a list, but there is a dictionary. Begin each entry with a dash.",
    ),
    "one profile is empty": (
        site(vms=[{"name": "a", "profiles": ["grid_a100-40c", None]}]),
        "site.vms[0].profiles[1]: expected a text, but there is no value. Write one value.",
    ),
    "text for a number": (
        site(vms=[{"prefix": "a"}, {"prefix": "b", "count": "two"}]),
        "site.vms[1].count: expected a whole number, but there is two. Correct it.",
    ),
    "text for yes or no": (
        site(vcenter={"validate_certs": "maybe"}),
        "site.vcenter.validate_certs: expected true or false, but there is maybe. Correct it.",
    ),
    "list for a text": (
        site(gpu={"profile": ["grid_a100-40c"]}),
        "site.gpu.profile: expected a text, but there is a list. Write one value.",
    ),
}


@pytest.mark.parametrize("given, problem", WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_wrong_type_is_reported_by_the_key_it_has(given, problem):
    assert site_problems(given) == [problem]


def test_unknown_keys_and_wrong_types_are_reported_at_once():
    problems = site_problems(site(gpuu={}, gpu={"mood": "vgpu"}) | {"vms": {}})
    assert [problem.split()[0] for problem in problems] == ["site.gpu.mood:", "site.gpuu:", "site.vms:"]
    problems = site_problems(site(gpuu={}, power="off"))
    assert [problem.split()[0] for problem in problems] == ["site.gpuu:", "site.power:"]
