from __future__ import annotations

from ..contract import GuestRow
from .guest_interface import FABRIC

TOS = "/sys/kernel/config/rdma_cm/vmw_pvrdma0/ports/1/default_roce_tos"
UNIT = "aiready-roce-ens224.service"
CALL = {"name": "ens224", "data_path": "pvrdma"}

ROWS = [
    GuestRow(
        module="guest_roce",
        name="the class of RoCE, another DSCP, and none",
        vm=FABRIC,
        before=(
            {"name": "The connection manager is there", "ansible.builtin.command": {"argv": ["modprobe", "rdma_cm"]}},
            # What the shell's files show follows the guest a moment later.
            {"name": "Its files are there", "ansible.builtin.wait_for": {"path": TOS, "timeout": 300}},
        ),
        create=CALL,
        modify={**CALL, "config": {"dscp": 24, "ecn": {"state": "disabled"}}},
        delete={**CALL, "state": "absent"},
        observe={
            "traffic class": ["cat", TOS],
            "at every start": [
                "sh",
                "-c",
                f"systemctl is-enabled {UNIT} && grep -c ExecStart= /etc/systemd/system/{UNIT}",
            ],
        },
        created={"traffic class": "106", "at every start": "enabled\n2"},
        modified={"traffic class": "96", "at every start": "enabled\n2"},
        deleted={"traffic class": "0", "at every start": None},
    ),
]
