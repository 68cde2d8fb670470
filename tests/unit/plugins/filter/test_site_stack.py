"""Options of the rest of the stack are compared with the hardware and with the other sections of the site."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import compatibility
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import stack as of_stack
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import validation

from unit.plugins.filter.seen_guests import site
from unit.plugins.plugin_utils.kubernetes.clusters import DRIVER

site_problems = FilterModule().filters()["site_problems"]
WHOLE = {"mode": "passthrough"}
AMPERE, ADA = {"mode": "vgpu", "profile": "grid_a100-40c"}, {"mode": "vgpu", "profile": "grid_l40s-48c"}


def stack(gpu=None, judged=True, **requested):
    more = {"gpu": gpu} if gpu else {}
    return site(guests=None, stack=requested, **({"validation": {"seconds": 5}} if judged else {}), **more)


SRIOV = {"path": "sriov", "nics": ["vmnic3"], "portgroup": "pg-sriov"}
TRAIN = {"image": "images.example.org/hpcx:1", "builtin": "small"}
OSU = {"latency": ["osu_latency"]}


def mpi(network, engine="horovod", osu=OSU):
    training = {"image": "images.example.org/hpcx:1", "builtin": "small", "engine": engine}
    more = {"network": network} if network else {}
    validation = {"osu": osu} if osu else {"seconds": 5}
    return site(guests=None, training=training, validation=validation, stack={"mpi": {"transport": "ucx"}}, **more)


SOUND = {
    "UCX over virtual functions": mpi(SRIOV),
    "MIG in the guests": site(guests={"user": "ops"}, gpu=WHOLE, stack={"mig": {"layout": ["3g", "2g", "1g", "1g"]}}),
    "an image with a digest": site(
        guests=None,
        training={**TRAIN, "image": f"images.example.org/hpcx@sha256:{'a' * 64}"},
        stack={"images": "required"},
    ),
    "nothing": stack(judged=False),
    "the first level on a vGPU": stack(dcgm={"diag": 1, "health": True}),
    "every level on whole GPUs": stack(WHOLE, dcgm={"diag": 4}),
    "storage with whole GPUs": stack(WHOLE, gds={"check": "required", "read_file": "/data/sample"}),
    "storage with a vGPU of Ada": stack(ADA, gds={"check": "required"}),
    "storage for the pods of a cluster": {
        **stack(WHOLE, gds={"check": "required"}, judged=False),
        "kubernetes": {"kubeconfig": "/srv/kubeconfig"},
    },
    "a package alone": stack(dcgm={"package": "datacenter-gpu-manager-4-cuda12"}, judged=False),
}


@pytest.mark.parametrize("one", SOUND.values(), ids=SOUND)
def test_a_sound_stack_has_no_problems(one):
    assert site_problems(one) == []


BAD = {
    "a level that does not exist": (
        stack(WHOLE, dcgm={"diag": 5}),
        "site.stack.dcgm.diag: 5 is not a level of `dcgmi diag`. Use 1 to 4, or 0 for no diagnostic.",
    ),
    "hardware tests on a vGPU": (
        stack(dcgm={"diag": 3}),
        "site.stack.dcgm.diag: level 3 measures PCIe, power and temperature, which a vGPU does not report "
        "(site.gpu.mode is vgpu). Use level 1, or GPUs in passthrough.",
    ),
    "storage with a vGPU of Ampere": (
        stack(AMPERE, gds={"read_file": "/data/sample"}),
        "site.stack.gds.read_file: GPUDirect Storage does not support a vGPU of the board A100 PCIe 40GB "
        "(site.gpu.profile is grid_a100-40c). Use Ada, Hopper or Blackwell with the open guest driver, use "
        "passthrough, or remove it.",
    ),
    "a file of nowhere": (
        stack(WHOLE, gds={"read_file": "data/sample"}),
        "site.stack.gds.read_file: data/sample is not an absolute path of the guests. Begin it with /.",
    ),
    "SHARP": (
        stack(sharp="required"),
        "site.stack.sharp: SHARP reduces in the switches of InfiniBand, and site.network.path is pvrdma, which is "
        "Ethernet. Remove it; NCCL reduces on the GPUs over RoCE.",
    ),
    "UCX over PVRDMA": (
        mpi(None),
        "site.stack.mpi.transport: UCX has no RDMA transport for site.network.path pvrdma. Use the path directpath, "
        "sriov or passthrough, or remove it.",
    ),
    "UCX with torchrun": (
        mpi(SRIOV, engine="torchrun"),
        "site.stack.mpi.transport: it needs mpirun and an image with MPI, which only the engine horovod has. Set "
        "site.training.engine to horovod, or remove it.",
    ),
    "UCX without a program": (
        mpi(SRIOV, osu=None),
        "site.stack.mpi.transport: no program uses MPI. Name one in site.validation.osu, see docs/stack.md, or remove "
        "it.",
    ),
    "a MIG layout of a vGPU": (
        site(guests={"user": "ops"}, stack={"mig": {"layout": ["3g"]}}),
        "site.stack.mig: the guests have vGPUs (site.gpu.mode is vgpu), and only a whole GPU can be partitioned in a "
        "guest. Use site.gpu.mode mig with a MIG-backed profile, or passthrough.",
    ),
    "a MIG layout with several ranks": (
        site(guests={"user": "ops"}, gpu=WHOLE, training=TRAIN, stack={"mig": {"layout": ["3g"]}}),
        "site.stack.mig: a process uses one instance, so NCCL cannot have several ranks in a guest. Set "
        "site.training.slots to 1, or remove it.",
    ),
    "an entry that is no profile": (
        site(guests={"user": "ops"}, gpu=WHOLE, stack={"mig": {"layout": ["big"]}}),
        "site.stack.mig.layout[0]: big is not a profile of MIG. Write it as 3g, 1g.10gb or the id of the profile.",
    ),
    "an image without a digest": (
        site(guests=None, training=TRAIN, stack={"images": "required"}),
        "site.training.image: images.example.org/hpcx:1 has no digest, and site.stack.images requires one. Append "
        "@sha256: and the digest of the image, or set site.stack.images to report.",
    ),
    "a read test in a cluster without a validation": (
        {
            **stack(WHOLE, gds={"read_file": "/data/sample"}, judged=False),
            "kubernetes": {"kubeconfig": "/srv/kubeconfig"},
        },
        "site.stack: it requests checks, and the site has no validation that runs them. Add site.validation, or "
        "remove diag, health, check, read_file and transport.",
    ),
    "checks without a validation": (
        stack(dcgm={"diag": 1}, judged=False),
        "site.stack: it requests checks, and the site has no validation that runs them. Add site.validation, or "
        "remove diag, health, check, read_file and transport.",
    ),
}


@pytest.mark.parametrize("one, problem", BAD.values(), ids=BAD)
def test_what_the_hardware_does_not_support_is_rejected(one, problem):
    assert site_problems(one) == [problem]


def test_the_options_reach_the_role_and_the_judge():
    requested = {"dcgm": {"diag": 2, "package": "dcgm"}, "gds": {"read_file": "/data/sample"}}
    made = validation.validation({**stack(WHOLE, **requested)})
    reported = {"dcgm_diag": 2, "dcgm_health": False, "gds": True, "gds_file": "/data/sample", "ucx": False}
    assert made["stack"] == {**reported, "dcgm_package": "dcgm"}
    assert made["intent"]["stack"] == reported


def test_preflight_names_images_without_a_digest_on_request():
    (found,) = compatibility.unpinned(site(guests=None, training=TRAIN, stack={"images": "report"}))
    assert (found.state, found.what) == ("open", "image")
    assert "images.example.org/hpcx:1 has no digest" in found.found
    assert "site.training.image" in found.todo
    assert list(compatibility.unpinned(site(guests=None, training=TRAIN))) == []


PINNED = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    "pods, keys",
    [
        ({"checks": {"image": "a/b:1", "pairs": {"image": "a/c:1"}}}, ["checks.image", "checks.pairs.image"]),
        ({"checks": {"image": f"a/b@{PINNED}", "pairs": {}}}, []),
        ({"gpu_operator": {"driver": {**DRIVER}}}, ["gpu_operator.driver.version"]),
        ({"gpu_operator": {"driver": {**DRIVER, "version": PINNED}}}, []),
        ({"gpu_operator": {"driver": {}}}, []),
    ],
)
def test_images_of_pods_count_too(pods, keys):
    asked = {"kubernetes": {"kubeconfig": "/srv/kubeconfig", **pods}, "stack": {"images": "report"}}
    found = list(compatibility.unpinned(site(guests=None, **asked)))
    assert [one.todo.partition(":")[0] for one in found] == [f"site.kubernetes.{key}" for key in keys]
    assert {one.where for one in found} <= {"kubernetes"}


@pytest.mark.parametrize(
    "board, expected",
    [
        *[
            (key, True)
            for key in ("a2", "a10", "a100_pcie_80gb", "a800_hgx_80gb", "rtx_a6000", "t4", "v100s_pcie_32gb")
        ],
        *[(key, False) for key in ("l4", "l40s", "h100_nvl_94gb", "rtx_6000_ada", "a200", "a1000_80gb", "t400")],
    ],
)
def test_boards_are_compared_as_whole_families(board, expected):
    assert of_stack.has_no_storage(board) is expected
