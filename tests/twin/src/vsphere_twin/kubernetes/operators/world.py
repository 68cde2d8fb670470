"""The nodes, images and operators of one cluster, and the order in which the controllers work."""

from __future__ import annotations

import re

from .. import machines
from ..refused import Refused
from . import gpu, network, pod_security, pod_shell, scheduling, sriov, training, vks, workloads
from .parts import Hardware

LICENSED, UNLICENSED = "Licensed (Expiry: 2027-01-01 0:0:0 GMT)", "Unlicensed (Unrestricted)"
OPERATORS = ("gpu-operator", "network-operator", "mpi-operator", "trainer")

# In the order of a step; a controller of an operator works where it is installed.
_CONTROLLERS = (
    (None, workloads.end_namespaces),
    (None, workloads.collect),
    ("gpu-operator", gpu.discover),
    ("gpu-operator", gpu.step),
    ("network-operator", network.step),
    (sriov.OPERATOR, sriov.step),
    ("vks", vks.step),
    ("mpi-operator", training.mpi_jobs),
    ("trainer", training.train_jobs),
    (None, workloads.daemon_sets),
    (None, workloads.deployments),
    (None, workloads.jobs),
    (None, scheduling.schedule),
    (None, scheduling.run),
    (None, workloads.quotas),
)


class Images:
    """The images that nodes can pull: all, except those that were removed or that need a login."""

    def __init__(self):
        self.missing = set()  # references
        self.private = {}  # prefix of a reference: name of the Secret that opens it

    def refusal(self, image, secrets):
        """Why an image cannot be pulled; empty where it can."""
        if image in self.missing or not image or image.startswith("/") or image.endswith(":"):
            return f'rpc error: code = NotFound desc = failed to pull and unpack image "{image}": {image}: not found'
        for prefix, secret in self.private.items():
            if image.startswith(prefix) and secret not in secrets:
                text = "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized"
                return f'failed to pull and unpack image "{image}": {text}'
        return ""


class PodRuntime:
    """Runs containers of pods. This one runs none; a subclass decides for which pods it is responsible."""

    def runs(self, pod):
        """Whether this runtime runs the containers of a pod."""
        return False

    def outcome(self, pod, container):
        """(exit code or None while it runs, log: a text or a callable that returns it). The first call starts it."""
        raise NotImplementedError

    def busy(self):
        """Whether a container may end at any time."""
        return False

    def keep(self, uids):
        """Remove the containers of all pods except those with these uids."""


class World:
    """The controllers of a cluster. `tick` does one step of each; nothing depends on the clock.

    `add_node(name, gpus=2)` joins a node. `programs` decides how containers end: {container: callable(pod, container)}
    that returns (exit code or None while it runs, log). A `pod_runtime` runs the containers of chosen pods (see
    PodRuntime). `installed` names the operators. With `vks`, the cluster is a Supervisor. Its Cluster objects become
    API servers of their own. A test raises `passed` by seconds to reach the deadlines of pods and jobs. Faults are
    plain attributes: `images.missing`, `images.private`, `hardware`, `feature_discovery`, `machines.free_gpus`.
    """

    def __init__(self, cluster, installed=OPERATORS, gpu_namespace="gpu-operator"):
        self.cluster, self.installed, self.gpu_namespace = cluster, set(installed), gpu_namespace
        self.hardware, self.images, self.programs = {}, Images(), {}
        self.pod_runtime = PodRuntime()
        self.feature_discovery = True
        self.rendered = {}
        # The SR-IOV network operator, as the chart of NVIDIA installs it on request.
        self.sriov_namespace, self.sriov_prefix, self.sriov_webhook = "nvidia-network-operator", "nvidia.com", False
        self.sriov_nodes = {"kubernetes.io/os": "linux"}  # labels of the nodes that it configures
        self.rejections = []  # what the API answered to operators
        self._seen, self._idle = {}, None
        self.passed, self._begun = 0, {}
        # A Supervisor: `spawn(uid, name, version)` returns the API server of a new cluster, `end(uid)` stops it.
        self.spawn, self.end = None, lambda uid: None
        self.machines = machines.Machines()
        if "vks" in self.installed:
            cluster.admission.append(vks.admit)
            vks.prepare(self)
        cluster.admission.append(sriov.admission(self))
        cluster.admission += [pod_security.admit, workloads.admit_quota]
        if "trainer" in self.installed:
            cluster.admission.append(training.admit_train_job)

    def add_node(self, name, labels=(), taints=(), **hardware):
        """Join a node with this hardware (see Hardware)."""
        one = self.hardware[name] = Hardware(**hardware)
        general = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        body = {"metadata": {"name": name, "labels": {**general, **dict(labels)}}, "spec": {"taints": list(taints)}}
        size = {"cpu": str(one.cpus), "memory": one.memory, "pods": "110", "ephemeral-storage": "100Gi"}
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "kubelet is posting ready status",
        }
        info = {"kubeletVersion": self.cluster.version, "containerRuntimeVersion": "containerd://1.7.27"}
        info.update(osImage="Ubuntu 22.04.5 LTS", kernelVersion="5.15.0-130-generic", operatingSystem="linux")
        number = len(self.hardware) + 10
        addresses = [{"type": "InternalIP", "address": f"192.168.30.{number}"}, {"type": "Hostname", "address": name}]
        status = {"capacity": size, "allocatable": dict(size), "conditions": [ready], "nodeInfo": info}
        return self.cluster.create("nodes", body | {"status": {**status, "addresses": addresses}})

    def tick(self):
        """One step of each controller; return whether anything changed."""
        cluster, before = self.cluster, self.cluster.revision
        state = (
            before,
            self.passed,
            repr(self.hardware),
            len(self.images.missing),
            len(self.images.private),
            len(self.programs),
        )
        if state == self._idle and not self.pod_runtime.busy() and not self.machines.waiting:
            return False
        for owner, controller in _CONTROLLERS:
            if owner in (None, *self.installed):
                self._step(controller)
        changed = cluster.revision != before
        self._idle = None if changed else state
        return changed

    def _step(self, controller):
        try:
            controller(self)
        except Refused as error:
            # A template of a user that the API rejects ends in the operator's log, not in a third request.
            self.rejections.append(f"{controller.__name__}: {error}")

    def settle(self, steps=200):
        """Do steps until nothing changes."""
        with self.cluster.lock:
            for _step in range(steps):
                if not self.tick():
                    return
        raise RuntimeError(f"The cluster still changes after {steps} steps.")

    def first_seen(self, obj):
        """The order in which the operator saw objects."""
        return self._seen.setdefault(obj["metadata"]["uid"], len(self._seen))

    def exceeds(self, obj, limit):
        """Whether an object is active for longer than its deadline in seconds, or None without one."""
        begun = self._begun.setdefault(obj["metadata"]["uid"], self.passed)
        return limit is not None and self.passed - begun >= limit

    # What containers do

    def outcome(self, pod, container):
        """(exit code or None while it runs, log) of a container."""
        name = container["name"]
        if self.pod_runtime.runs(pod):
            return self.pod_runtime.outcome(pod, container)
        if name in self.programs:
            return self.programs[name](pod, container)
        if pod_shell.is_script(pod, container):
            return pod_shell.outcome(self, pod, container)
        if name == "nvidia-driver-ctr":
            return self._driver(pod, container)
        if name == "nvidia-operator-validator":
            return None, "all validations are successful\n"
        ends = any(one["kind"] == "Job" for one in pod["metadata"].get("ownerReferences", ()))
        return (0, "") if ends else (None, "")

    def _driver(self, pod, container):
        hardware = self.hardware[pod["spec"]["nodeName"]]
        branch = re.search(r":(\d+)", container["image"])
        if not self.driver_works(hardware, container["image"]):
            return (
                1,
                f"Loading NVIDIA driver kernel modules...\nnvidia-smi\n{_no_device(hardware, branch and branch[1])}",
            )
        return None, f"Loading NVIDIA driver kernel modules...\n{_licence(hardware, pod, self.cluster)}"

    def _driver_pod(self, node):
        """(pod, image) of the driver container on a node; (None, "") if the node has its own driver."""
        for pod in self.cluster.list("pods", self.gpu_namespace):
            for container in pod["spec"]["containers"]:
                if pod["spec"].get("nodeName") == node and container["name"] == "nvidia-driver-ctr":
                    return pod, container["image"]
        return None, ""

    def node_driver(self, node):
        """The version of the driver that runs on a node."""
        _pod, image = self._driver_pod(node)
        found = re.search(r":([\d.]+)", image)
        return found[1] if found else f"{self.hardware[node].host_branch}.54.15"

    def node_licence(self, node):
        """The state of the licence of the vGPUs of a node, as nvidia-smi shows it."""
        pod, _image = self._driver_pod(node)
        if pod is None:
            return LICENSED if self.hardware[node].licensed else UNLICENSED
        return _licence(self.hardware[node], pod, self.cluster).partition(": ")[2].strip()

    @staticmethod
    def driver_works(hardware, image):
        """Whether a driver finds the GPU: a vGPU needs the guest driver of the host's branch."""
        if not hardware.vgpu or image is None:
            return True
        branch = re.search(r":(\d+)", image)
        return "vgpu" in image and branch is not None and branch[1] == hardware.host_branch

    @staticmethod
    def driver_branch(spec):
        """The branch of the driver in a ClusterPolicy."""
        return (spec.get("driver") or {}).get("version", "").partition(".")[0]


def _no_device(hardware, branch):
    if branch and branch != hardware.host_branch:
        return f"NVRM: the vGPU guest driver {branch} does not match the host driver {hardware.host_branch}\n"
    return "No devices were found\n"


def _licence(hardware, pod, cluster):
    if not hardware.vgpu:
        return ""
    volume = next((one for one in pod["spec"].get("volumes") or () if one["name"] == "licensing-config"), None)
    if volume is None or not hardware.licensed:
        return f"    License Status                    : {UNLICENSED}\n"
    secret = cluster.get("secrets", volume["secret"]["secretName"], pod["metadata"]["namespace"])
    good = secret and secret["data"].get("client_configuration_token.tok")
    state = LICENSED if good else UNLICENSED
    return f"    License Status                    : {state}\n"
