from __future__ import annotations

from twin_labs.host_lab import ESX, OTHER, esx, host, seed
from vsphere_twin.model import adapters
from vsphere_twin.model.kernel import number

from ..contract import Look

RIGHT = {"nmlx5_core": "pfctx=0x08 pfcrx=0x08 trust_state=2", "nmlx5_rdma": "dscp_force=26"}
LEAF = {"name": "leaf-01", "platform": "eos"}
CABLES = [["esx-01.example.com/vmnic2", "leaf-01/Ethernet1"], ["esx-02.example.com/vmnic2", "leaf-01/Ethernet2"]]


def fabric(*hosts, **more):
    """The data centre of the host lab with a leaf that its first RDMA ports are cabled to."""
    return {**seed(*hosts, **more), "fabric": {"switches": [LEAF], "cables": CABLES}}


def ready(name=ESX, **more):
    return esx(name, module_options=RIGHT, **more)


def reports(twin):
    """What the model knows of its hosts."""
    return {one.name: _of(one) for one in (host(twin, ESX), host(twin, OTHER))}


def _of(found):
    trusted = {"2": "dscp", "1": "pcp"}
    return {
        nic.device: {
            "mtu": nic.mtu,
            "rdma": nic.rdma.name if nic.rdma else None,
            "pause": nic.pause_rx or nic.pause_tx,
            "pfc": adapters.dcb(found, nic)[1] if nic.kind.rdma else None,
            "trust": trusted[found.kernel.option("nmlx5_core", "trust_state", "1")] if nic.kind.rdma else None,
            "dscp": number(found.kernel.option("nmlx5_rdma", "dscp_force", "0")) or None if nic.kind.rdma else None,
            "sees": _switch_of(found, nic),
        }
        for nic in found.nics
    }


def _switch_of(found, nic):
    """Cables of the seed, at ports whose distributed switch listens."""
    ends = dict(CABLES)
    return ends.get(f"{found.name}/{nic.device}") if nic.switch is not None else None


def reported(answer):
    return {one["name"]: {port["name"]: _reported_of(port) for port in one["ports"]} for one in answer["hosts"]}


def _reported_of(port):
    return {
        "mtu": port["mtu"],
        "rdma": port["rdma"],
        "pause": port["pause"],
        "pfc": None if port["pfc"] is None else sum(1 << priority for priority in port["pfc"]),
        "trust": port["trust"],
        "dscp": port["dscp"],
        "sees": f"{port['lldp'][0]['system']}/{port['lldp'][0]['port']}" if port["lldp"] else None,
    }


LOOKS = [
    Look(
        module="esxi_roce_info",
        name="one host that is ready and one as it comes from the factory, both of the cluster",
        params={},
        reports=reports,
        reported=reported,
        seed=fabric(ready(), esx(OTHER), mtu=9000),
    ),
    Look(
        module="esxi_roce_info",
        name="hosts by name and by path",
        params={"hosts": [OTHER, f"/lab/host/gpu/{ESX}"]},
        reports=reports,
        reported=reported,
        seed=fabric(ready(), ready(OTHER)),
    ),
]

EXAMPLES_SEED = fabric(ready(), ready(OTHER))
