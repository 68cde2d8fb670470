"""What a pod prints whose command is a script of simple lines. No program of this machine runs.

The text of nvidia-smi is that of the guests. A pod has a GPU, an RDMA device and a network only if it requests them.
"""

from __future__ import annotations

import datetime
import fnmatch
import ipaddress
import re
import shlex
import uuid
from pathlib import Path

from ...guests import programs
from ...guests.programs import dcgm, nvidia_ecc
from . import gpu
from .parts import amount, owned

NETWORKS = "k8s.v1.cni.cncf.io/networks"
KERNEL = "5.15.0-130-generic"
MODULES = ("ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "nvidia")
_TEMPLATE = Path(programs.__file__).with_name("nvidia_q.txt")


def is_script(pod, container):
    """Whether a pod of its own runs a script, and ends."""
    words = container.get("command") or []
    alone = not pod["metadata"].get("ownerReferences") and pod["spec"].get("restartPolicy") == "Never"
    return alone and words[:2] == ["/bin/sh", "-c"] and len(words) == 3


def outcome(world, pod, container):
    """(exit code, log) of the script."""
    machine = Machine(world, pod, container)
    printed, status = [], 0
    for line in container["command"][2].splitlines():
        try:
            text, status = _line(machine, line, status)
        except (IndexError, KeyError, ValueError, re.error):
            text, status = f"sh: 1: the twin cannot run this line: {line}\n", 2
        printed.append(text)
    return status, "".join(printed)


def _line(machine, line, before):
    line = line.replace("$?", str(before)).replace("${mib}", str(machine.mib))
    size = re.match(r"mib=\$\(\(\$\(stat -c %s (\S+) 2>/dev/null \|\| echo 0\) / 1048576\)\)", line)
    if size or line == "mib=$((mib > 1024 ? 1024 : mib))":
        machine.mib = machine.stored.get(size[1], 0) >> 20 if size else min(machine.mib, 1024)
        return "", 0
    quoted = [single or double for single, double in re.findall(r"'([^']*)'|\"([^\"]*)\"", line)]
    if line.startswith("echo "):
        return f"{quoted[0] if quoted else line[5:]}\n", 0
    merged = line.endswith(" 2>&1")
    line = line.removesuffix(" 2>&1")
    if line.startswith("printenv"):
        rows = [f"{name}={value}\n" for name, value in sorted(machine.environment.items())]
        wanted = re.compile(quoted[0]) if quoted else re.compile("")
        return "".join(row for row in rows if wanted.search(row)), 0
    if line.startswith("ulimit"):
        return f"{machine.hardware.memlock}\n" * len(line.split(";")), 0
    words = shlex.split(line)
    program = PROGRAMS.get(words[0])
    if program is None:
        return (f"sh: 1: {words[0]}: not found\n" if merged else ""), 127
    return program(machine, words[1:])


class Machine:
    """The devices, networks and files that one container sees."""

    def __init__(self, world, pod, container):
        self.world, self.pod = world, pod
        self.hardware = world.hardware[pod["spec"]["nodeName"]]
        limits = (container.get("resources") or {}).get("limits") or {}
        self.gpus = int(amount(limits.get("nvidia.com/gpu", 0)))
        self.adapters = sum(int(amount(value)) for name, value in limits.items() if _is_rdma(name))
        self.environment = {one["name"]: one.get("value", "") for one in container.get("env") or ()}
        self.environment.update(self.hardware.environment)
        added = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add") or ()
        self.may_read_log = "SYSLOG" in added
        self.engine = False  # whether the host engine of DCGM runs
        self.mib = 0  # a variable of the script
        self.reads = 0  # that nvidia_fs counted
        mounted = [one["mountPath"] for one in container.get("volumeMounts") or ()]
        # The files of a volume: one of a claim has the same ones.
        self.stored = {
            path: size
            for path, size in self.hardware.files.items()
            if any(path.startswith(f"{one}/") for one in mounted)
        }
        self.interfaces = [("eth0", pod["status"].get("podIP", "172.20.0.9"), 24, 1450), *self._attached()]
        self.files = self._files()

    def _attached(self):
        text = (self.pod["metadata"].get("annotations") or {}).get(NETWORKS, "")
        names = [one.strip().rpartition("/")[2] for one in text.split(",") if one.strip()]
        found = []
        for number, name in enumerate(names, 1):
            pool = next((one for one in self._pools() if one["metadata"]["name"] == name), None)
            subnet = ipaddress.ip_network(pool["spec"]["subnet"] if pool else "192.168.99.0/24")
            # Each node has another address.
            host = 20 + list(self.world.hardware).index(self.pod["spec"]["nodeName"])
            found.append((f"net{number}", str(subnet[host]), subnet.prefixlen, self.hardware.mtu))
        return found

    def _pools(self):
        return self.world.cluster.list("ippools") if self.world.cluster.serves("ippools") else ()

    def _files(self):
        files = {"/etc/os-release": 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n'}
        files["/proc/modules"] = "".join(f"{name} 1 0 - Live 0x0\n" for name in MODULES)
        files["/proc/sys/kernel/random/boot_id"] = f"{uuid.uuid5(uuid.NAMESPACE_DNS, self.pod['spec']['nodeName'])}\n"
        for name, _address, _length, mtu in self.interfaces:
            files[f"/sys/class/net/{name}/mtu"] = f"{mtu}\n"
            files[f"/sys/class/net/{name}/operstate"] = "up\n"
        for number, (name, address, _length, _mtu) in enumerate(self.interfaces[1 : 1 + self.hardware.adapters]):
            files.update(_device(f"mlx5_{number}", number, name, address))
        return files

    @property
    def device_files(self):
        """A pod without the resource sees the devices, and cannot open them."""
        return [f"uverbs{number}" for number in range(self.adapters)] + (["rdma_cm"] if self.adapters else [])


def _is_rdma(name):
    return name.startswith("rdma/") or (
        name.startswith("nvidia.com/") and name != "nvidia.com/gpu" and "mig" not in name
    )


def _device(name, number, interface, address):
    folder, mapped = f"/sys/class/infiniband/{name}", ipaddress.ip_address(f"::ffff:{address}").exploded
    local = f"fe80:0000:0000:0000:0250:56ff:fe00:{number:04x}"
    files = {"fw_ver": "26.41.1000", "node_guid": f"0050:5600:0000:{number:04x}"}
    files.update({"device/vendor": "0x15b3", "device/device": "0x101e", "ports/1/state": "4: ACTIVE"})
    files.update({"ports/1/phys_state": "5: LinkUp", "ports/1/rate": "100 Gb/sec (4X EDR)"})
    files["ports/1/link_layer"] = "Ethernet"
    rows = ((local, "IB/RoCE v1"), (local, "RoCE v2"), (mapped, "IB/RoCE v1"), (mapped, "RoCE v2"))
    for index, (gid, kind) in enumerate(rows):
        files[f"ports/1/gids/{index}"] = gid
        files[f"ports/1/gid_attrs/types/{index}"] = kind
        files[f"ports/1/gid_attrs/ndevs/{index}"] = interface
    files = {f"{folder}/{path}": f"{text}\n" for path, text in files.items()}
    return {**files, f"/sys/class/infiniband_verbs/uverbs{number}/ibdev": f"{name}\n"}


def _uname(_machine, _words):
    return f"{KERNEL}\n", 0


def _grep(machine, words):
    """`grep -H -s "" PATH...`: each line of each file that a path names."""
    rows = []
    for pattern in [word for word in words if word.startswith("/")]:
        for path in sorted(machine.files):
            if path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern):
                rows += [f"{path}:{line}\n" for line in machine.files[path].splitlines()]
    return "".join(rows), 0 if rows else 2


def _ls(machine, words):
    if words == ["/sys/module"]:
        return "".join(f"{name}\n" for name in MODULES), 0
    if words == [GDS_TOOLS]:
        return "gds_stats\ngdscheck\ngdsio\n", 0
    if words == ["/dev/infiniband"] and machine.device_files:
        return "".join(f"{name}\n" for name in sorted(machine.device_files)), 0
    return f"ls: cannot access '{words[-1]}': No such file or directory\n", 2


def _ip(machine, words):
    if words != ["-4", "-o", "addr", "show"]:
        return "", 1
    lines = [
        f"{number}: {name}    inet {address}/{length} scope global {name}\\       valid_lft forever\n"
        for number, (name, address, length, _mtu) in enumerate(machine.interfaces, 2)
    ]
    return "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever\n" + "".join(lines), 0


def _dmesg(machine, _words):
    if not machine.may_read_log:
        return "dmesg: read kernel buffer failed: Operation not permitted\n", 1
    xids = "".join(f"[  99.0] NVRM: Xid (PCI:0000:02:00): {code}, pid=1\n" for code in machine.hardware.xids)
    return f"[    0.000000] Linux version {KERNEL}\n{xids}", 0


def _nvidia_smi(machine, words):
    """The container toolkit gives the program only to a container with GPUs."""
    if not machine.gpus:
        return "sh: 1: nvidia-smi: not found\n", 127
    if words != ["-q"]:
        return "Invalid combination of input arguments.\n", 2
    version = machine.world.node_driver(machine.pod["spec"]["nodeName"])
    moment = datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)
    head = [("Timestamp", f"{moment:%a %b %d %H:%M:%S %Y}"), ("Driver Version", version), ("CUDA Version", "12.4")]
    out = ["", "==============NVSMI LOG==============", "", *(f"{key:<42}: {value}" for key, value in head), ""]
    out.append(f"{'Attached GPUs':<42}: {machine.gpus}")
    template = _TEMPLATE.read_text(encoding="utf-8")
    cards = [template.format(**_facts(machine, number)) for number in range(machine.gpus)]
    return "\n".join(out) + "\n" + "\n".join(cards) + "\n", 0


def _facts(machine, number):
    hardware = machine.hardware
    name = hardware.product.replace("-", " ")
    block = ""
    if hardware.vgpu:
        status = machine.world.node_licence(machine.pod["spec"]["nodeName"])
        rows = (("Product Name", "NVIDIA Virtual Compute Server"), ("License Status", status))
        block = "    vGPU Software Licensed Product\n" + "".join(f"        {key:<34}: {one}\n" for key, one in rows)
    total = hardware.memory_mib
    return {
        "bus_id": f"00000000:0{2 + number}:00.0",
        "name": name,
        "brand": name,
        "architecture": "Ampere",
        "mig": "Disabled",
        "uuid": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{machine.pod}{number}')}",
        "index": number,
        "board_id": f"0x{2 + number}00",
        "part_number": "20F1-897-A1",
        "virtualization": "VGPU" if hardware.vgpu else "Pass-Through",
        "licence": block,
        "bus": f"0{2 + number}",
        "slot": "00",
        "device_id": "20F1",
        "subsystem_id": "145F",
        "total": total,
        "reserved": total // 15,
        "free": total - total // 15,
        "ecc": nvidia_ecc.block("Ampere", hardware.vgpu, 0, 0),
    }


def _host_engine(machine, _words):
    machine.engine = True
    return "Started host engine version 4.2.3 using port number: 5555 \n", 0


def _dcgmi(machine, words):
    """The diagnostic of DCGM. A vGPU reports nothing of the hardware."""
    if words[:2] == ["health", "--host"]:
        return _health(machine, words[2], words[3:])
    if not machine.engine:
        return dcgm.NO_ENGINE, dcgm.NO_CONNECTION
    if words[:2] != ["diag", "--run"] or words[3:] != ["--json"] or words[2] not in dcgm.LEVELS:
        return "PARSE ERROR: the pod knows dcgmi diag --run LEVEL --json\n", dcgm.BAD_USAGE
    hardware, indexes = machine.hardware, range(machine.gpus)
    tests = []
    for name, category, _level, physical in [one for one in dcgm.TESTS if one[2] <= dcgm.LEVELS[words[2]]]:
        status = "Skip" if physical and hardware.vgpu else "Fail" if name in hardware.failed_tests else "Pass"
        made = {"entity_group": "GPU", "entity_group_id": 1, "status": status}
        if status == "Fail":
            made["warnings"] = [{"error_id": 96, "error_severity": 2, "warning": f"The test {name} found an error."}]
        tests.append(dcgm.summed(name, category, [{**made, "entity_id": index} for index in indexes]))
    version = machine.world.node_driver(machine.pod["spec"]["nodeName"])
    failed = any(one["test_summary"]["status"] == "Fail" for _category, one in tests)
    return dcgm.document(tests, indexes, version), dcgm.FAILED if failed else 0


def _health(machine, host, words):
    """The health watches of the host engine of the operator. The Service leads to that of the node."""
    cluster, namespace = machine.world.cluster, machine.world.gpu_namespace
    found = cluster.get("daemonsets", gpu.ENGINE, namespace)
    node = machine.pod["spec"]["nodeName"]
    pods = [one for one in owned(cluster, "pods", found) if one["spec"].get("nodeName") == node] if found else []
    if host != f"{gpu.ENGINE}.{namespace}.svc:5555" or not any(gpu.ready(one) for one in pods):
        return dcgm.unreachable(host), dcgm.NO_CONNECTION
    if words == ["--set", "a"]:
        machine.hardware.watched = pods[0]["metadata"]["uid"]
        return dcgm.SET, 0
    if words != ["--check", "--json"]:
        return "PARSE ERROR: the pod knows --set a and --check --json\n", dcgm.BAD_USAGE
    if machine.hardware.watched != pods[0]["metadata"]["uid"]:
        return dcgm.OFF, dcgm.BAD_USAGE
    return dcgm.report(machine.hardware.failed_gpus), 0


def _served(machine):
    """The runtime gives the devices of nvidia_fs only to a container that asks for them."""
    return machine.hardware.storage if machine.environment.get("NVIDIA_GDS") == "enabled" else ()


def _stat(machine, words):
    if words[:2] != ["-c", "%s"] or words[-1] not in machine.stored:
        return f"stat: cannot statx '{words[-1]}': No such file or directory\n", 1
    return f"{machine.stored[words[-1]]}\n", 0


def _cat(machine, words):
    if words != [STATS] or not machine.hardware.storage:
        return f"cat: {words[-1]}: No such file or directory\n", 1
    return COUNTERS.format(reads=machine.reads), 0


def _gdsio(machine, words):
    """A read of a file. A copy through host memory prints the same, and nvidia_fs does not count it."""
    given = dict(zip(words[::2], words[1::2], strict=False))
    file = given.get("-f", "")
    if file not in machine.stored or given.get("-I") != "0":
        return f"file open failed :No such file or directory filename :{file}\n", 1
    if not _served(machine) and not machine.hardware.copies:
        return f"file register error: GPUDirect Storage not supported on current file filename:{file}\n", 1
    machine.reads += 0 if machine.hardware.copies else 16740
    return READ.format(kib=int(given["-s"].removesuffix("M")) * 1024), 0


def _gdscheck(machine, words):
    if words != ["-p"]:
        return "usage: gdscheck -p\n", 1
    served = _served(machine)
    rows = [" GDS release version: 1.13.1.3", " nvidia_fs version:  2.24 libcufile version: 2.12"]
    rows += [f" {name:<19}: {'Supported' if name in served else 'Unsupported'}" for name in STORAGE]
    rows += [" properties.use_compat_mode : true", " properties.force_compat_mode : false"]
    name = machine.hardware.product.replace("-", " ")
    rows += [
        f" GPU index {number} {name} bar:1 bar size (MiB):65536 supports GDS, IOMMU State: Disabled"
        for number in range(machine.gpus)
    ]
    return "".join(f"{row}\n" for row in (*rows, f" Platform verification {'succeeded' if served else 'failed'}")), 0


STORAGE = ("NVMe P2PDMA", "NVMe", "NVMeOF", "SCSI", "NFS", "USERSPACE RDMA")
GDS_TOOLS = "/usr/local/cuda/gds/tools"
STATS = "/proc/driver/nvidia-fs/stats"
COUNTERS = """\
GDS Version: 1.13.1.3
NVFS statistics(ver: 4.0)
NVFS Driver(version: 2.24.2)
Mellanox PeerDirect Supported: True
IO stats: Enabled, peer IO stats: Disabled
Logging level: info

Active Shadow-Buffer (MiB): 0
Active Process: 0
Reads				: n={reads} ok={reads} err=0 io_state_err=0
Writes				: n=0 ok=0 err=0 io_state_err=0 pg-cache=0 pg-cache-fail=0 pg-cache-eio=0
Ops				: Read=0 Write=0 BatchIO=0
"""
READ = (
    "IoType: READ XferType: GPUD Threads: 1 DataSetSize: 17141760/{kib}(KiB) IOSize: 1024(KiB) "
    "Throughput: 3.273450 GiB/sec, Avg_Latency: 298.328125 usecs ops: 16740 total_time 4.994130 secs\n"
)
PROGRAMS = {"uname": _uname, "grep": _grep, "ls": _ls, "ip": _ip, "dmesg": _dmesg, "nvidia-smi": _nvidia_smi}
PROGRAMS.update({"nv-hostengine": _host_engine, "dcgmi": _dcgmi, f"{GDS_TOOLS}/gdscheck": _gdscheck})
PROGRAMS.update({"stat": _stat, "cat": _cat, f"{GDS_TOOLS}/gdsio": _gdsio})
