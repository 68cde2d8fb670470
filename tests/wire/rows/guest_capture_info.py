from __future__ import annotations

import json
import tempfile
from pathlib import Path

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from .. import zips
from ..contract import Look
from ..linux_host import LinuxHost

DEST = zips.place()
LINKS = [{"ifindex": 2, "ifname": "ens192", "mtu": 9000, "operstate": "UP", "address": "b8:ce:f6:aa:bb:cc"}]
TOOLS = {"ip -j link": json.dumps(LINKS), "uname -r": "6.8.0-45-generic"}


def on_linux(module, check, **params):
    """The answer of the module on a Linux system, which the twin has none of."""
    with tempfile.TemporaryDirectory(prefix="linux-") as folder:
        return LinuxHost(Path(folder), {}, TOOLS).act(module, params, check)


def reports(_twin):
    return {"kernel": "6.8.0-45-generic", "links": [("ens192", 9000, "b8:ce:f6")]}


def reported(answer):
    files = {name.rpartition("/")[2]: text for name, text in Capture(answer["dest"]).files.items()}
    links = json.loads(files["004-ip-j-link.txt"])
    return {
        "kernel": files["001-uname-r.txt"].decode().strip(),
        "links": [(one["ifname"], one["mtu"], one["address"][:8]) for one in links],
    }


LOOKS = [
    Look(
        module="guest_capture_info",
        name="a guest with one adapter",
        params={"dest": DEST},
        reports=reports,
        reported=reported,
        run=on_linux,
    )
]
# The twin has no guests: the plays of the examples find no hosts.
EXAMPLES_SEED = "small"
