"""Pods of trainings as containers on this machine's engine, from the image for trainings of the lab."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vsphere_twin.kubernetes.operators.world import PodRuntime

from . import pod_devices
from .failure import RehearsalFailed

Made = Mapping[str, Any]
# Lines of the built-in trainings for machines.
PREFIX = "AIREADY "
UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


@contextmanager
def engine(world: Any, namespace: str, say: Callable[[str], None]) -> Iterator[PodRuntime]:
    """A runtime for the pods of a namespace; RehearsalFailed where there is no container engine."""
    try:
        from vsphere_twin.guests import engine as engines
        from vsphere_twin.guests import lab, training_image
    except ImportError as problem:
        raise RehearsalFailed(f"The library {problem.name} is missing. Run `make setup`.") from None
    try:
        client = engines.have(say, install=True)
        image = training_image.of_pods(client, say)
    except engines.EngineProblem as problem:
        raise RehearsalFailed(f"Cannot run pods as containers. {problem}") from None
    own = lab.Lab()
    lab.remove_forgotten(client, say)
    try:
        yield Containers(client, own, image, world, namespace)
    finally:
        lab.remove(client, own.id)
        client.close()


class Containers(PodRuntime):
    """Each container of a pod is one of the engine. Host names of pods are resolved by the engine.

    The image of the pod is replaced by the one on this machine. Limits of pods have no effect. The model of the cluster
    decides which devices and networks a container has, see pod_devices.
    """

    def __init__(self, client: Any, lab: Any, image: str, world: Any, namespace: str):
        self.client, self.lab, self.image = client, lab, image
        self.world, self.namespace = world, namespace
        self.networks: dict[str, Any] = {}
        self.started: dict[tuple[str, str], Any] = {}
        self.ended: dict[tuple[str, str], tuple[int, str]] = {}

    def runs(self, pod: Made) -> bool:
        return pod["metadata"]["namespace"] == self.namespace

    def busy(self) -> bool:
        return len(self.ended) < len(self.started)

    def outcome(self, pod: Made, container: Made) -> tuple[int | None, Any]:
        key = (pod["metadata"]["uid"], container["name"])
        if key not in self.started:
            self.started[key] = self._start(pod, container)
        if key not in self.ended:
            one = self.started[key]
            one.reload()
            if one.status != "exited":
                return None, lambda: self._log(key)
            self.ended[key] = (one.attrs["State"]["ExitCode"], self._log(key))
        return self.ended[key]

    def _log(self, key: tuple[str, str]) -> str:
        """What a container printed; nothing is left of a pod that was removed."""
        return self.started[key].logs().decode(errors="replace") if key in self.started else ""

    def keep(self, uids: set[str]) -> None:
        for key in [one for one in self.started if one[0] not in uids]:
            self.started.pop(key).remove(force=True, v=True)
            self.ended.pop(key, None)

    def _start(self, pod: Made, container: Made) -> Any:
        metadata, spec = pod["metadata"], pod["spec"]
        host = spec.get("hostname") or metadata["name"]
        below = spec.get("subdomain")
        names = [host, *([f"{host}.{below}", f"{host}.{below}.{self.namespace}.svc"] if below else [])]
        devices = pod_devices.Devices(self.world, pod, container)
        network = self._network("pods").name
        made = self.client.containers.create(
            self.image,
            container.get("args") or [],
            entrypoint=[*pod_devices.ENTER, *(container.get("command") or [])],
            name=self.lab.name(f"pod-{metadata['uid'][:8]}-{container['name']}"),
            labels=self.lab.labels,
            hostname=host,
            # A webhook of the cluster may set more.
            environment={**environment(pod, container), **self.world.hardware[spec["nodeName"]].environment},
            shm_size=shared_memory(spec, container),
            network=network,
            networking_config={network: self.client.api.create_endpoint_config(aliases=names)},
            cap_add=pod_devices.capabilities(container),
            security_opt=["seccomp=unconfined", "apparmor=unconfined"],
            detach=True,
        )
        made.put_archive("/", devices.archive())
        for mount in container.get("volumeMounts") or ():
            volume = next(one for one in spec["volumes"] if one["name"] == mount["name"])
            archive = self._archive(volume, mount["mountPath"].strip("/"))
            if archive:
                made.put_archive("/", archive)
        made.start()
        for name in devices.networks:
            self._network(name).connect(made)
        return made

    def _network(self, name: str) -> Any:
        """A network of the engine, created at its first use."""
        if name not in self.networks:
            options = {} if name == "pods" else {"com.docker.network.driver.mtu": str(pod_devices.MTU)}
            # The engine takes the gateway of the network whose name sorts first, and must not change it meanwhile.
            full = self.lab.name("pods" if name == "pods" else f"rails-{name}")
            self.networks[name] = self.client.networks.create(full, labels=self.lab.labels, options=options)
        return self.networks[name]

    def _archive(self, volume: Made, path: str) -> bytes:
        """The files of a Secret or ConfigMap below a path; empty for other volumes."""
        if "secret" in volume:
            source, mode, folder = volume["secret"], volume["secret"].get("defaultMode", 0o644), 0o700
            data = self.world.cluster.get("secrets", source["secretName"], self.namespace)["data"]
            files = {key: base64.b64decode(text) for key, text in data.items()}
        elif "configMap" in volume:
            source, mode, folder = volume["configMap"], volume["configMap"].get("defaultMode", 0o644), 0o755
            data = self.world.cluster.get("configmaps", source["name"], self.namespace)["data"]
            files = {key: text.encode() for key, text in data.items()}
        else:
            return b""
        items = source.get("items") or [{"key": key, "path": key} for key in files]
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            top = tarfile.TarInfo(path)
            top.type, top.mode = tarfile.DIRTYPE, folder
            tar.addfile(top)
            for item in items:
                entry = tarfile.TarInfo(f"{path}/{item['path']}")
                entry.size, entry.mode = len(files[item["key"]]), item.get("mode", mode)
                tar.addfile(entry, io.BytesIO(files[item["key"]]))
        return out.getvalue()


def environment(pod: Made, container: Made) -> dict[str, str]:
    """The environment of a container, with fields of its pod."""
    made = {}
    for row in container.get("env") or ():
        path = ((row.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        made[row["name"]] = _field(pod, path) if path else row.get("value", "")
    return made


def _field(pod: Made, path: str) -> str:
    """A field of the downward API."""
    what, _bracket, key = path.partition("[")
    found: Any = pod
    for part in what.split("."):
        found = found.get(part) or {}
    return found.get(key.strip("]'"), "") if key else str(found)


def shared_memory(spec: Made, container: Made) -> int | None:
    """The size of /dev/shm in bytes; None for the default of the engine."""
    for mount in container.get("volumeMounts") or ():
        if mount["mountPath"] == "/dev/shm":
            volume = next(one for one in spec["volumes"] if one["name"] == mount["name"])
            size = (volume.get("emptyDir") or {}).get("sizeLimit", "")
            number, unit = size.rstrip("KMGi"), size.lstrip("0123456789.")
            return int(float(number) * UNITS.get(unit, 1)) if number else None
    return None


def ranks(log: str) -> list[dict[str, Any]]:
    """Each rank in the log of a built-in training: host, loss before and after, digest of its weights."""
    made: dict[int, dict[str, Any]] = {}
    for line in log.splitlines():
        _before, prefix, text = line.partition(PREFIX)
        if not prefix or not text.startswith("{"):
            continue
        event = json.loads(text)
        if event["event"] == "rank":
            made.setdefault(event["rank"], {}).update(rank=event["rank"], host=event["host"])
        if event["event"] == "end":
            figures = {key: event[key] for key in ("weights", "loss_first", "loss_last")}
            made.setdefault(event["rank"], {}).update(figures)
    return [made[rank] for rank in sorted(made)]


def trained(log: str) -> str:
    """Check that two ranks on separate pods trained together."""
    found = ranks(log)
    hosts = {one.get("host") for one in found}
    weights = {one.get("weights") for one in found}
    if len(found) < 2 or len(hosts) < 2 or len(weights) != 1 or None in weights:
        raise RehearsalFailed(f"The ranks did not train together: {found}.")
    first, last = found[0]["loss_first"], found[0]["loss_last"]
    if not last < first:
        raise RehearsalFailed(f"The loss did not fall: {first} to {last}.")
    return f"loss {first:.3f} to {last:.3f}, weights of {len(found)} ranks on {len(hosts)} pods equal"
