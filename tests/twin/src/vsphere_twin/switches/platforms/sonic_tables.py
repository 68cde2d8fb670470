"""Factory defaults of a SONiC switch: ASICs by SKU, the stock maps that are all called AZURE, buffers and headroom.

Sources: sonic-buildimage (qos_config.j2, the sample output of the buffer templates, pg_profile_lookup.ini of the
SN2700, yang-models), sonic-utilities (the table of the generic config updater).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sku:
    """A hardware SKU: the ASIC as the updater calls it, the kind of ASIC, the platform."""

    asic: str
    kind: str
    platform: str


SKUS = {
    "Mellanox-SN2700": Sku("spc1", "mellanox", "x86_64-mlnx_msn2700-r0"),
    "ACS-MSN3700": Sku("spc2", "mellanox", "x86_64-mlnx_msn3700-r0"),
    "ACS-MSN4700": Sku("spc3", "mellanox", "x86_64-mlnx_msn4700-r0"),
    "ACS-SN5600": Sku("spc4", "mellanox", "x86_64-nvidia_sn5600-r0"),
    "Arista-7060CX-32S-C32": Sku("th", "broadcom", "x86_64-arista_7060_cx32s"),
    "Arista-7260CX3-C64": Sku("th2", "broadcom", "x86_64-arista_7260cx3_64"),
    "Force10-S6000": Sku("td2", "vs", "x86_64-kvm_x86_64-r0"),
}
UNKNOWN = Sku("unknown", "broadcom", "x86_64-accton_as7726_32x-r0")

# Since which branch a field of a table may be changed by patches, by ASIC; a build without a branch number passes.
WATCHDOG_SINCE = {
    "spc1": "20181100",
    "spc2": "20191100",
    "spc3": "20220500",
    "spc4": "20221100",
    "td2": "20181100",
    "th": "20181100",
    "th2": "20181100",
}
HEADROOM_SINCE = {"spc1": "20191100", "spc2": "20191100", "spc3": "20220500", "spc4": "20221100"}
HEADROOM_SINCE |= {"th": "20221100", "th2": "20221100"}

MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")
# Tables that `config qos clear` empties.
QOS_TABLES = (
    "PORT_QOS_MAP",
    "QUEUE",
    *MAPS,
    "MPLS_TC_TO_TC_MAP",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "SCHEDULER",
    "WRED_PROFILE",
    "CABLE_LENGTH",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PROFILE",
    "BUFFER_POOL",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
)
# xon and xoff of the SN2700 by speed and cable.
HEADROOM = {
    ("100000", "5m"): ("19456", "30720"),
    ("100000", "40m"): ("19456", "38912"),
    ("100000", "300m"): ("19456", "104448"),
    ("50000", "5m"): ("19456", "23552"),
    ("50000", "40m"): ("19456", "27648"),
    ("50000", "300m"): ("19456", "60416"),
    ("25000", "5m"): ("19456", "19456"),
    ("25000", "40m"): ("19456", "21504"),
    ("25000", "300m"): ("19456", "38912"),
    ("200000", "5m"): ("19456", "45056"),
    ("200000", "40m"): ("19456", "61440"),
    ("400000", "5m"): ("19456", "75776"),
    ("400000", "40m"): ("19456", "108544"),
}
CABLE = "5m"


def _everything(most, value, **others):
    return {str(number): value for number in range(most)} | {key.lstrip("_"): one for key, one in others.items()}


def stock_maps():
    """The maps of qos_config.j2: DSCP 3 and 4 are lossless, 26 is not."""
    identity = {str(number): str(number) for number in range(8)}
    return {
        "DSCP_TO_TC_MAP": {"AZURE": _everything(64, "1", _3="3", _4="4", _5="2", _8="0", _46="5", _48="6")},
        "MPLS_TC_TO_TC_MAP": {"AZURE": _everything(8, "1", _3="3", _4="4", _5="2")},
        "TC_TO_QUEUE_MAP": {"AZURE": dict(identity)},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": _everything(8, "0", _3="3", _4="4", _7="7")},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": dict(identity)},
    }


def stock_qos(ports, sku):
    """Return the output of qos.json.j2 for these ports."""
    tables = stock_maps()
    if sku.kind == "mellanox":
        own = {str(number): str(number) for number in (3, 4)}
        tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {"AZURE": own}
    tables["SCHEDULER"] = {
        "scheduler.0": {"type": "DWRR", "weight": "14"},
        "scheduler.1": {"type": "DWRR", "weight": "15"},
    }
    least, most = ("2000000", "10000000") if sku.asic == "th2" else ("1048576", "2097152")
    profile = {"ecn": "ecn_all"}
    for colour, low, high in (("green", least, most), ("yellow", "1048576", "2097152"), ("red", "1048576", "2097152")):
        profile[f"wred_{colour}_enable"] = "true"
        profile[f"{colour}_min_threshold"], profile[f"{colour}_max_threshold"] = low, high
        profile[f"{colour}_drop_probability"] = "5"
    tables["WRED_PROFILE"] = {"AZURE_LOSSLESS": profile}
    tables["PORT_QOS_MAP"] = {port: stock_port(sku) for port in ports}
    tables["QUEUE"] = {
        f"{port}|{queue}": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
        if queue in (3, 4)
        else {"scheduler": "scheduler.0"}
        for port in ports
        for queue in range(7)
    }
    return tables


def stock_port(sku):
    """PORT_QOS_MAP of one port."""
    own = dict.fromkeys(("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"), "AZURE")
    if sku.kind == "mellanox":
        own["pfc_to_pg_map"] = "AZURE"
    return {**own, "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}


def stock_buffers(ports, dynamic):
    """Return the output of buffers.json.j2 or buffers_dynamic.json.j2; the first creates lossless groups with the
    ports."""
    tables = {
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"mode": "dynamic", "type": "ingress"},
            "egress_lossless_pool": {"mode": "dynamic", "size": "13945824", "type": "egress"},
            "egress_lossy_pool": {"mode": "dynamic", "type": "egress"},
        },
        "BUFFER_PROFILE": {
            "ingress_lossless_profile": _profile("ingress_lossless_pool", "7"),
            "ingress_lossy_profile": _profile("ingress_lossless_pool", "3"),
            "egress_lossless_profile": _profile("egress_lossless_pool", "7"),
            "egress_lossy_profile": {**_profile("egress_lossy_pool", "7"), "size": "9216"},
            "q_lossy_profile": _profile("egress_lossy_pool", "3"),
        },
        "BUFFER_PG": {f"{port}|0": {"profile": "ingress_lossy_profile"} for port in ports},
        "BUFFER_QUEUE": {
            f"{port}|{queues}": {"profile": profile}
            for port in ports
            for queues, profile in (
                ("0-2", "q_lossy_profile"),
                ("3-4", "egress_lossless_profile"),
                ("5-6", "q_lossy_profile"),
            )
        },
        "BUFFER_PORT_INGRESS_PROFILE_LIST": {port: {"profile_list": "ingress_lossless_profile"} for port in ports},
        "BUFFER_PORT_EGRESS_PROFILE_LIST": {
            port: {"profile_list": "egress_lossless_profile,egress_lossy_profile"} for port in ports
        },
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, CABLE)},
    }
    if dynamic:
        tables["BUFFER_PG"] |= {f"{port}|3-4": {"profile": "NULL"} for port in ports}
        tables["LOSSLESS_TRAFFIC_PATTERN"] = {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}}
        tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
    else:
        tables["BUFFER_POOL"]["ingress_lossless_pool"] |= {"size": "7719936", "xoff": "1032192"}
        tables["BUFFER_POOL"]["egress_lossy_pool"] |= {"size": "7719936"}
    return tables


def _profile(pool, threshold):
    return {"dynamic_th": threshold, "pool": pool, "size": "0"}


def factory(switch, sku):
    """CONFIG_DB of a switch that came up with the stock QoS."""
    ports = list(switch.ports)
    tables = {
        "DEVICE_METADATA": {
            "localhost": {
                "buffer_model": "traditional",
                "default_pfcwd_status": "disable",
                "hostname": switch.name,
                "hwsku": switch.model,
                "mac": switch.chassis,
                "platform": sku.platform,
                "type": "LeafRouter",
            }
        },
        "FEATURE": {"lldp": {"auto_restart": "enabled", "state": "enabled"}},
        "PORT": {},
        **stock_qos(ports, sku),
        **stock_buffers(ports, dynamic=False),
    }
    for number, port in enumerate(ports):
        lanes = ",".join(str(number * 4 + lane) for lane in range(4))
        tables["PORT"][port] = {
            "admin_status": "up",
            "alias": f"etp{number + 1}",
            "index": str(number + 1),
            "lanes": lanes,
            "mtu": "9100",
            "pfc_asym": "off",
            "speed": str(switch.ports[port].speed_gbps * 1000),
        }
    return tables
