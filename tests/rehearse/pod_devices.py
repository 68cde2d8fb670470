"""What a node adds to the container of a pod: programs of the GPU driver, RDMA devices, and interfaces of the networks.

The simulated cluster knows the devices of its nodes. The files, interfaces and addresses here are real, so the programs
of a pod read and use them as on a node. Only nvidia-smi and dmesg print the text of the simulated node.
"""

from __future__ import annotations

import io
import shlex
import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

from vsphere_twin.kubernetes.operators import pod_shell

Made = Mapping[str, Any]
HOME = "opt/node"
# The engine shares /sys and the kernel of this machine, so the container gets its own files before its command starts.
ENTER = ["/bin/sh", f"/{HOME}/enter"]
MORE = ("NET_ADMIN", "SYS_ADMIN")
SYSTEM, MODULES = "/sys/class/", "/proc/modules"
MTU = 9000  # of the engine's networks; the model decides that of the interface in the pod
_DROPPED = ",".join(f"-{one.lower()}" for one in MORE)
_ENTER = f"""\
set -e
at=/{HOME}
number=1
while read -r name address mtu; do
  # The engine connects the network after the start. It names the interface, then adds an address, and then enables it.
  until [ -n "$(ip -4 -o address show dev "eth$number" up 2>/dev/null)" ]; do sleep 0.05; done
  ip link set "eth$number" down
  ip address flush dev "eth$number"
  ip link set "eth$number" name "$name"
  ip link set "$name" mtu "$mtu" up
  ip address add "$address" dev "$name"
  number=$((number + 1))
done < $at/interfaces
if [ -d $at/class ]; then
  mkdir $at/class/net
  mount --bind /sys/class/net $at/class/net
  mount --rbind $at/class /sys/class
  mount --bind $at/module /sys/module
  [ ! -e {MODULES} ] || mount --bind $at/modules {MODULES}
fi
if [ -s $at/devices ]; then
  mkdir /dev/infiniband
  while read -r name; do : > "/dev/infiniband/$name"; done < $at/devices
fi
for name in $(cat $at/own_address); do
  export "$name=$(ip -4 -o address show dev eth0 | sed -n 's/.* inet \\([0-9.]*\\).*/\\1/p')"
done
exec setpriv --inh-caps={_DROPPED} --bounding-set={_DROPPED} -- "$@"
"""


class Devices:
    """The parts of a node for one container of a pod."""

    def __init__(self, world: Any, pod: Made, container: Made):
        self._machine = pod_shell.Machine(world, pod, container)
        self._container = container

    @property
    def networks(self) -> list[str]:
        """The names of the interfaces besides that of the pod."""
        return [name for name, *_address in self._machine.interfaces[1:]]

    def archive(self) -> bytes:
        """The files for the root of the container."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for path, text, mode in self._files():
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode = len(text.encode()), mode
                tar.addfile(entry, io.BytesIO(text.encode()))
        return out.getvalue()

    def _files(self) -> Iterator[tuple[str, str, int]]:
        machine = self._machine
        yield f"{HOME}/enter", _ENTER, 0o755
        rows = [f"{name} {address}/{length} {mtu}\n" for name, address, length, mtu in machine.interfaces[1:]]
        yield f"{HOME}/interfaces", "".join(rows), 0o644
        yield f"{HOME}/devices", "".join(f"{name}\n" for name in machine.device_files), 0o644
        yield f"{HOME}/own_address", " ".join(of_pod_address(self._container)), 0o644
        if self.networks:
            yield f"{HOME}/modules", machine.files[MODULES], 0o644
            for name in pod_shell.MODULES:
                yield f"{HOME}/module/{name}/initstate", "live\n", 0o644
            for path, text in machine.files.items():
                if path.startswith(f"{SYSTEM}infiniband"):
                    yield f"{HOME}/class/{path.removeprefix(SYSTEM)}", text, 0o644
        yield "usr/local/bin/dmesg", _program(*pod_shell.PROGRAMS["dmesg"](machine, [])), 0o755
        if machine.gpus:
            text, status = pod_shell.PROGRAMS["nvidia-smi"](machine, ["-q"])
            yield "usr/local/bin/nvidia-smi", _program(text, status, "-q"), 0o755


def of_pod_address(container: Made) -> list[str]:
    """The variables of a container that have the address of its pod."""
    rows = container.get("env") or ()
    return [row["name"] for row in rows if _path(row) == "status.podIP"]


def _path(row: Made) -> str:
    return ((row.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")


def capabilities(container: Made) -> list[str]:
    """Those that a pod requests, and those for the start alone."""
    asked = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add") or []
    return sorted({*asked, *MORE})


def _program(text: str, status: int, words: str = "") -> str:
    """A program that prints the answer of the model, for these arguments alone."""
    asked = f'[ "$*" = {shlex.quote(words)} ] || {{ echo "Invalid combination of input arguments."; exit 2; }}\n'
    shown = f"cat <<'END OF TEXT'\n{text.rstrip()}\nEND OF TEXT"
    return f"#!/bin/sh\n{asked if words else ''}{shown}\nexit {status}\n"
