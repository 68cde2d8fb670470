"""GPUs: vGPU types, MIG, graphics types, placements."""

from __future__ import annotations

import re

from vsphere_twin.model import boards, catalogue, mig_layout, packages
from vsphere_twin.nvidia_smi import lists

from .registry import rule
from .verdict import confirms, either, lacks, refutes

MIG_TYPE = re.compile(r".*-\d-\d+[abcq](?:me)?")
SERIES = re.compile(r"(?:grid|nvidia)_(?P<board>.+?)-(?:\d-)?(?P<gb>\d+)(?P<series>[abcq])(?:me|\d)?")
DEFAULT_MODE = "sameSize"
NEWEST = 999  # a branch that offers all profiles


def types_of(host):
    """The vGPU types that a host lists, or None if that was not read."""
    if not host.has("config"):
        return None
    return host.texts("config.sharedPassthruGpuTypes")


def vgpus_of(vm):
    """The vGPU types of the devices of a VM."""
    return [one.text("backing.vgpu") for one in vm.all("config.hardware.device") if one.all("backing.vgpu")]


def families(evidence, host):
    """The families of NVIDIA drivers on a host by its VIBs, or None if the VIBs were not read."""
    vibs = evidence.outputs("hosts", host.name).rows("software vib list")
    if vibs is None:
        return None
    found = set()
    for vib in vibs:
        name = str(vib.get("name", ""))
        if "AIE" in name:
            found.add("nvaie")
        elif name in packages.FAMILY_OF or re.match(r"(?:NVD|NVIDIA)[-_](?:VMware|VGPU)", name):
            found.add("graphics")
    return found


def _boards():
    return map(catalogue.board, catalogue.board_keys())


def gpus_of(host):
    return host.all("config.graphicsInfo")


@rule("vgpu-types-by-driver")
def types_by_driver(evidence):
    for host in evidence.hosts:
        found = [SERIES.fullmatch(one) for one in types_of(host) or []]
        series = {one["series"] for one in found if one and not _compute_only(one["board"])}
        if not series:
            continue
        kinds = families(evidence, host)
        if not kinds:
            yield lacks("software vib list of a host with vGPU types")
        elif kinds == {"nvaie"}:
            yield either(series == {"c"}, host.name, f"driver nvaie, types of the series {', '.join(sorted(series))}")
        elif kinds == {"graphics"}:
            yield either(
                "c" not in series, host.name, f"graphics driver, types of the series {', '.join(sorted(series))}"
            )


def _compute_only(name):
    return any(one.prefix.partition("_")[2] == name and one.compute_only for one in _boards())


def _mig_on(gpu):
    mode = gpu.text("vgpuMode")
    return None if mode is None else mode == "multiInstanceGpu"


@rule("mig-types-exclusive")
def mig_types(evidence):
    for host in evidence.hosts:
        types = types_of(host)
        modes = {_mig_on(gpu) for gpu in gpus_of(host)}
        if not types:
            continue
        if len(modes) != 1 or None in modes:
            yield lacks("graphicsInfo.vgpuMode, equal for all GPUs of a host with vGPU types (from 8.0 Update 3 on)")
            continue
        on = modes == {True}
        wrong = [one for one in types if bool(MIG_TYPE.fullmatch(one)) is not on]
        yield either(not wrong, host.name, f"MIG {'on' if on else 'off'}, {len(types)} types, wrong: {wrong[:3]}")


@rule("shared-types-are-supported")
def supported_types(evidence):
    for host in evidence.hosts:
        gpus = gpus_of(host)
        busy = [gpu for gpu in gpus if gpu.all("vm")]
        if len(gpus) != 1 or not busy or gpus[0].text("graphicsType") != "sharedDirect":
            continue
        if (gpus[0].text("vgpuMode") or DEFAULT_MODE) != DEFAULT_MODE:
            continue
        vms = [evidence.find("VirtualMachine", moid) for moid in gpus[0].texts("vm")]
        used = {name for vm in vms if vm is not None for name in vgpus_of(vm)}
        types = types_of(host) or []
        if not used or len(used) != 1:
            continue
        others = [one for one in types if one not in used]
        values = f"{', '.join(used)} runs on the only GPU; {len(types)} types are listed"
        if others:
            yield confirms(host.name, values)
        elif not types:
            yield refutes(host.name, values)


@rule("rtx-pro-6000-mig")
def rtx_pro(evidence):
    for host in evidence.hosts:
        if not any("RTX PRO 6000" in (gpu.text("deviceName") or "") for gpu in gpus_of(host)):
            continue
        version = host.text("config.product.version") or ""
        mig = [one for one in types_of(host) or [] if MIG_TYPE.fullmatch(one)]
        on = any(_mig_on(gpu) for gpu in gpus_of(host))
        if version and int(version.partition(".")[0]) < 9 and (mig or on):
            yield either(not mig, host.name, f"ESXi {version}, MIG-backed types: {mig[:3]}")


@rule("placements-are-multiples")
def placements(evidence):
    for host in evidence.hosts:
        text = evidence.outputs("hosts", host.name).text("nvidia-smi vgpu -q")
        if text is None:
            if any(gpu.text("vgpuMode") == "mixedSize" for gpu in gpus_of(host)):
                yield lacks("nvidia-smi vgpu -q of a host with a GPU in mixed size")
            continue
        for name, place in re.findall(r"vGPU Name\s*:\s*(\S.*?)\s*\n(?:.*\n)*?.*?Placement ID\s*:\s*(\d+)", text):
            size = re.search(r"-(\d+)[ABCQ]$", name)
            board = next(
                (one for one in boards.BOARDS if _title(name).startswith(one.vsphere_prefix.lower() + "-")), None
            )
            if size is None or (board is not None and any(one.placements for one in board.time_sliced)):
                continue
            yield either(int(place) % int(size[1]) == 0, host.name, f"{name} at placement {place}")


def _title(name):
    return name.lower().removeprefix("nvidia ").replace("grid ", "grid_").replace(" ", "_")


@rule("mig-start-order")
def mig_starts(evidence):
    for host in evidence.hosts:
        text = evidence.outputs("hosts", host.name).text("mig -lgi")
        if text is None:
            if any(_mig_on(gpu) for gpu in gpus_of(host)):
                yield lacks("nvidia-smi mig -lgi of a host with MIG on")
            continue
        kinds = _mig_kinds(host)
        found = re.findall(r"\|\s*(\d+)\s+MIG \S+\s+(\d+)\s+\d+\s+(\d+):(\d+)\s", text)
        for number in {gpu for gpu, _profile, _start, _size in found}:
            mine = [one for one in found if one[0] == number]
            kind = kinds[int(number)] if int(number) < len(kinds) else None
            profile = kind.profile(int(mine[0][1])) if kind is not None and len(mine) == 1 else None
            if profile is not None:
                first = mig_layout.free_starts(kind, [], profile, NEWEST)[0]
                values = f"GPU {number}: {profile.name} alone at {mine[0][2]}, the twin starts at {first}"
                yield either(int(mine[0][2]) == first, host.name, values)


def _mig_kinds(host):
    """The kinds of the GPUs that can be partitioned, in the order of nvidia-smi."""
    devices = {one.text("id"): one.number("deviceId") for one in host.all("hardware.pciDevice")}
    kinds = {one.device_id: one.mig_kind for one in _boards()}
    found = sorted(gpu.text("pciId") or "" for gpu in gpus_of(host))
    return [kinds.get((devices.get(address) or 0) & 0xFFFF) for address in found]


@rule("vgpus-share-a-gpu")
def shared_gpu(evidence):
    for vm in evidence.running:
        host, count = evidence.host_of(vm), len(vgpus_of(vm))
        if count < 2 or host is None:
            continue
        used = [gpu for gpu in gpus_of(host) if vm.moid in gpu.texts("vm")]
        if used and len(used) < count:
            yield confirms(vm.name, f"{count} vGPUs on {len(used)} GPUs")


@rule("graphics-type-waits")
def graphics_type(evidence):
    for host in evidence.hosts:
        active = {gpu.text("pciId"): gpu for gpu in gpus_of(host)}
        for one in host.all("config.graphicsConfig.deviceType"):
            gpu = active.get(one.text("deviceId"))
            if gpu is not None and gpu.text("graphicsType") != one.text("graphicsType") and gpu.all("vm"):
                values = (
                    f"{one.text('deviceId')}: configured {one.text('graphicsType')}, active {gpu.text('graphicsType')}"
                )
                yield confirms(host.name, f"{values}, in use")


@rule("basic-without-driver")
def basic(evidence):
    for host in evidence.hosts:
        gpus = [gpu for gpu in gpus_of(host) if "NVIDIA" in (gpu.text("vendorName") or "")]
        if not gpus:
            continue
        kinds = families(evidence, host)
        if kinds is None:
            yield lacks("software vib list of a host with an NVIDIA GPU")
        elif not kinds:
            direct = {one.text("id") for one in host.all("config.pciPassthruInfo") if one.truth("passthruActive")}
            for gpu in gpus:
                if gpu.text("pciId") not in direct:
                    values = f"{gpu.text('pciId')}: {gpu.text('graphicsType')} without a driver"
                    yield either(gpu.text("graphicsType") == "basic", host.name, values)


@rule("mig-lgip-text")
def lgip(evidence):
    for host in evidence.hosts:
        outputs = evidence.outputs("hosts", host.name)
        text = outputs.text("mig -lgip")
        if text is None:
            continue
        version = re.search(r"<driver_version>(\d+)\.", outputs.text("nvidia-smi -q -x") or "")
        frame = re.search(r"^\+-+\+\s*$", text, re.MULTILINE)
        if version is None or frame is None:
            yield lacks("nvidia-smi -q -x beside nvidia-smi mig -lgip")
            continue
        branch, width = int(version[1]), len(frame[0].rstrip())
        expected = {450: 76, 510: 79, 575: 81}.get(branch)
        if expected is not None:
            yield either(width == expected, host.name, f"R{branch}: {width} columns, the twin has {expected}")
        shares = re.findall(r"\s(\d+)/(\d+)\s", text)
        instances = re.search(r"MIG \S+\s+\d+\s+\d+\s+\d+:\d+", outputs.text("mig -lgi") or "")
        if branch == lists.BLIND_ON_ESXI and shares and outputs.text("mig -lgi") is not None and not instances:
            free = sum(int(one) for one, _total in shares)
            yield either(free == 0, host.name, f"R{branch}: {free} free instances on an empty GPU")
