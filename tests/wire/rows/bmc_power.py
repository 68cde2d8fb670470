from __future__ import annotations

import functools

from ..contract import Row
from ..lab import A100, datacenter, lab
from .bios_settings import DELL, HPE, system


def powered(host, twin):
    return system(twin, host).power_state.value


def at(host):
    return functools.partial(powered, host)


ROWS = [
    Row(
        module="bmc_power",
        name="an ESXi host is asked to shut down",
        at=DELL,
        seed="factory",
        faces=("redfish",),
        create={"state": "off"},
        modify={"state": "on"},
        delete={"state": "off", "how": "forced"},
        observe=at(DELL),
        created="Off",
        modified="On",
        deleted="Off",
    ),
    Row(
        module="bmc_power",
        name="power is cut where the task says so",
        at=HPE,
        seed="factory",
        faces=("redfish",),
        create={"state": "off", "how": "forced"},
        modify={"state": "on", "how": "forced"},
        delete={"state": "off", "how": "forced", "system_id": "1"},
        observe=at(HPE),
        created="Off",
        modified="On",
        deleted="Off",
    ),
]

EXAMPLES_FACES = ("redfish",)
EXAMPLES_UNDO = ("Power on a server",)
EXAMPLES_SEED = {
    **lab(),
    "datacenters": [datacenter("dc1", [{"name": "esx-01.example.com", "gpus": [A100]}], [])],
}
