from __future__ import annotations

from twin_labs.host_lab import ESX, esx, host, seed

from ..contract import Row

TOOLS = {"vibs": ["nmst"], "ssh": "running"}


def firmware(twin):
    """{port: (ATS, SR-IOV, VFs) of the next cold start, and those that run} in the model."""
    return {
        nic.device: (
            (nic.firmware.next_ats, nic.firmware.next_sriov, nic.firmware.next_num_vfs),
            (nic.firmware.ats, nic.firmware.sriov, nic.firmware.num_vfs),
        )
        for nic in host(twin).nics
        if nic.mst_name
    }


OFF = (False, False, 0)
ROWS = [
    Row(
        module="nic_firmware",
        name="all ports, then one of them",
        seed=seed(esx(**TOOLS)),
        faces=("ssh",),
        at=ESX,
        create={"settings": {"ATS_ENABLED": True}},
        modify={"devices": ["vmnic3"], "settings": {"ATS_ENABLED": 1, "SRIOV_EN": True, "NUM_OF_VFS": 8}},
        delete={"settings": {"ATS_ENABLED": None, "SRIOV_EN": False, "NUM_OF_VFS": 0}, "activation": "warm"},
        observe=firmware,
        created={"vmnic2": ((True, False, 0), OFF), "vmnic3": ((True, False, 0), OFF)},
        modified={"vmnic2": ((True, False, 0), OFF), "vmnic3": ((True, True, 8), OFF)},
        deleted={"vmnic2": (OFF, OFF), "vmnic3": (OFF, OFF)},
    ),
    Row(
        module="nic_firmware",
        name="what runs already, by address and by mst's name",
        seed=seed(esx(**TOOLS, firmware={"ats": True, "sriov": True, "num_vfs": 4})),
        faces=("ssh",),
        at=ESX,
        create={"devices": ["3a:00.0"], "settings": {"NUM_OF_VFS": 16}},
        modify={"devices": ["mt4125_pciconf0"], "settings": {"SRIOV_EN": "false"}},
        delete={"settings": {"NUM_OF_VFS": 4, "SRIOV_EN": True}},
        observe=firmware,
        created={
            "vmnic2": ((True, True, 16), (True, True, 4)),
            "vmnic3": ((True, True, 4), (True, True, 4)),
        },
        modified={
            "vmnic2": ((True, False, 16), (True, True, 4)),
            "vmnic3": ((True, True, 4), (True, True, 4)),
        },
        deleted={
            "vmnic2": ((True, True, 4), (True, True, 4)),
            "vmnic3": ((True, True, 4), (True, True, 4)),
        },
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed(esx(**TOOLS))
EXAMPLES_FACES = ("ssh",)
EXAMPLES_UNDO = ("Reset the parameters to the firmware defaults",)
