from __future__ import annotations

from ..contract import GuestRow

FABRIC = {"networks": ["VM Network"], "adapters": [{"type": "pvrdma", "network": "pg-rdma"}]}
# What the kernel has, and what the service will give it at the next start.
OBSERVE = {
    "mtu": ["cat", "/sys/class/net/ens224/mtu"],
    "ours": ["sh", "-c", "ip -4 -o addr show dev ens224 | grep -o '198[.]51[.]100[.][0-9]*/[0-9]*' | tr '\\n' ' '"],
    "kept": ["sh", "-c", "cat /etc/systemd/network/*.network.d/90-aiready.conf 2>/dev/null | grep = | tr '\\n' ' '"],
    "leased": ["sh", "-c", "ip -4 -o addr show dev ens224 | grep -v 198.51.100 | wc -l"],
}

ROWS = [
    GuestRow(
        module="guest_interface",
        name="an MTU and an address, others, and the MTU of Ethernet again",
        vm=FABRIC,
        create={"name": "ens224", "mtu": 9000, "address": "198.51.100.11/24"},
        modify={"name": "ens224", "mtu": 4200, "address": "198.51.100.12/24"},
        delete={"name": "ens224", "mtu": 1500},
        observe=OBSERVE,
        created={
            "mtu": "9000",
            "ours": "198.51.100.11/24",
            "kept": "MTUBytes=9000 Address=198.51.100.11/24",
            "leased": "1",
        },
        modified={
            "mtu": "4200",
            "ours": "198.51.100.12/24",
            "kept": "MTUBytes=4200 Address=198.51.100.12/24",
            "leased": "1",
        },
        deleted={
            "mtu": "1500",
            "ours": "198.51.100.12/24",
            "kept": "MTUBytes=1500 Address=198.51.100.12/24",
            "leased": "1",
        },
    ),
]
