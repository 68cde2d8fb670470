"""Hosts: passthrough, virtual functions, RDMA devices, modules, NUMA nodes, VIBs, room for VMs."""

from __future__ import annotations

import re

from vsphere_twin.esxcli.commands import counters
from vsphere_twin.model import packages, resources

from .registry import rule
from .verdict import confirms, either, lacks

NETWORK_CLASS = 0x02
FUNCTION = re.compile(r"virtual function", re.IGNORECASE)
RDMA_MTUS, HEADERS = (4096, 2048, 1024, 512), 104
FACTORY_MTU = 1500
PRIORITIES = 8
MODULE = "nmlx5_core"
MB = 1024 * 1024
# ESXi's own share is an order of magnitude, so a quarter less and a quarter more still fit.
LEAST, MOST = 0.75, 1.25


def pci_devices(host):
    return {one.text("id"): one for one in host.all("hardware.pciDevice")}


def parameters(evidence, host, module=MODULE):
    """The parameters of a kernel module by name, or None."""
    rows = evidence.outputs("hosts", host.name).rows("system module parameters list", module=module)
    return None if rows is None else {str(row.get("name")): str(row.get("value") or "") for row in rows}


@rule("passthrough-port-is-hidden")
def hidden(evidence):
    for host in evidence.hosts:
        devices = pci_devices(host)
        pnics = set(host.texts("config.network.pnic.pci"))
        for one in host.all("config.pciPassthruInfo"):
            device = devices.get(one.text("id"))
            if device is None or not one.truth("passthruActive"):
                continue
            network = (device.number("classId") or 0) >> 8 == NETWORK_CLASS
            if network and not FUNCTION.search(device.text("deviceName") or ""):
                known = one.text("id") in pnics
                yield either(
                    not known, host.name, f"{one.text('id')} in passthrough mode is {'a' if known else 'no'} vmnic"
                )


@rule("sriov-api-and-max-vfs")
def functions(evidence):
    for host in evidence.hosts:
        ports = {one.text("pci"): one.text("device") for one in host.all("config.network.pnic")}
        options = parameters(evidence, host)
        for one in host.all("config.pciPassthruInfo"):
            asked, real = one.number("numVirtualFunctionRequested"), one.number("numVirtualFunction")
            if asked is None or real is None or one.text("id") not in ports or ports[one.text("id")] is None:
                continue
            if not one.truth("sriovCapable"):
                continue
            if options is None or "max_vfs" not in options:
                yield lacks(f"system module parameters list --module={MODULE}")
                continue
            numbers = [int(text) for text in options["max_vfs"].split(",") if text.strip().isdigit()]
            if asked not in numbers and real:
                values = f"{ports[one.text('id')]}: {asked} requested, max_vfs {options['max_vfs']}, {real} present"
                yield either(real == asked or real in numbers, host.name, values)


@rule("unknown-module-options-stay")
def unknown_options(evidence):
    for host in evidence.hosts:
        known = parameters(evidence, host)
        text = evidence.outputs("hosts", host.name).text(f"esxcfg-module -g {MODULE}")
        if known is None or text is None:
            continue
        found = re.search(r"options = '([^']*)'", text)
        names = re.findall(r"(\w+)=", found[1]) if found else []
        strange = sorted(set(names) - set(known))
        if strange:
            yield confirms(host.name, f"options that {MODULE} does not declare: {', '.join(strange)}")


def _port_mtus(host):
    """The MTU of each port: that of the switch that it is an uplink of."""
    found = {}
    for path in ("config.network.vswitch", "config.network.proxySwitch"):
        for switch in host.all(path):
            for key in switch.texts("pnic"):
                found[key] = switch.number("mtu") or FACTORY_MTU
    return found


@rule("rdma-path-mtu")
def rdma_mtu(evidence):
    for host in evidence.hosts:
        mtus = _port_mtus(host)
        for one in host.all("config.network.rdmaDevice"):
            real, key = one.number("connectionInfo.mtu"), one.text("backing.pairedUplink")
            if real is None or key is None or one.text("connectionInfo.state") != "active":
                continue
            mtu = mtus.get(key, FACTORY_MTU)
            expected = next((size for size in RDMA_MTUS if mtu >= size + HEADERS), RDMA_MTUS[-1])
            values = f"{one.text('device')}: path MTU {real}, port MTU {mtu}, the twin has {expected}"
            yield either(real == expected, host.name, values)


@rule("rdma-devices-need-module")
def rdma_module(evidence):
    for host in evidence.hosts:
        modules = evidence.outputs("hosts", host.name).rows("system module list")
        present = [one for one in host.all("config.network.rdmaDevice") if one.text("driver") == "nmlx5_rdma"]
        capable = [one for one in host.all("config.network.pnic") if one.text("driver") == MODULE]
        if not capable and not present:
            continue
        if modules is None:
            yield lacks("system module list")
            continue
        loaded = any(row.get("name") == "nmlx5_rdma" and str(row.get("isloaded")).lower() == "true" for row in modules)
        if present or not loaded:
            values = f"{len(present)} RDMA devices, nmlx5_rdma is {'loaded' if loaded else 'not loaded'}"
            yield either(bool(present) is loaded, host.name, values)


@rule("pfc-masks")
def pfc(evidence):
    for host in evidence.hosts:
        options = parameters(evidence, host)
        if not options or not {"pfctx", "pfcrx"} & set(options):
            continue
        masks = [_mask(options.get(name, "")) for name in ("pfctx", "pfcrx")]
        if None in masks or not any(masks):
            continue
        outputs = evidence.outputs("hosts", host.name)
        mellanox = {one.text("device") for one in host.all("config.network.pnic") if one.text("driver") == MODULE}
        ports = [one for one in outputs.options("network nic dcb status get", "nic-name") if one in mellanox]
        if not ports:
            yield lacks("network nic dcb status get of a port with pfctx and pfcrx")
        for port in ports:
            (row,) = outputs.rows("network nic dcb status get", nic_name=port) or [{}]
            bits = re.findall(r"[01]", str(row.get("pfcconfiguration", "")))
            if len(bits) == PRIORITIES:
                real = sum(1 << number for number, bit in enumerate(bits) if bit == "1")
                expected = masks[0] & masks[1]
                values = f"{port}: pfctx {masks[0]:#x}, pfcrx {masks[1]:#x}, effective {real:#x}"
                yield either(real == expected, host.name, values)


def _mask(text):
    first = text.split(",")[0].strip()
    try:
        return int(first, 0) if first else 0
    except ValueError:
        return None


@rule("rdma-statistics-rows")
def statistics(evidence):
    expected = {re.sub(r"[^a-z0-9]", "", one.lower()) for one in counters.RDMA_ROWS}
    for host in evidence.hosts:
        for row in evidence.outputs("hosts", host.name).rows("rdma device stats get") or []:
            found = set(row)
            values = (
                f"missing in the twin: {sorted(found - expected)[:5]}, only in the twin: {sorted(expected - found)[:5]}"
            )
            yield either(found == expected, host.name, values)


@rule("config-target-functions")
def targets(evidence):
    for name, values in evidence.answers("QueryConfigTarget").items():
        for target in values:
            functions = [one for one in target.all("sriov") if one.truth("virtualFunction")]
            ids = {one.text("pciDevice.id") for one in functions}
            if not ids:
                continue
            listed = {one.text("pciDevice.id") for one in target.all("pciPassthrough")}
            kinds = {one.text("pciDevice.deviceId") for one in functions}
            dynamic = {one.text("deviceId") for one in target.all("dynamicPassthrough")}
            wrong = len(kinds & dynamic)
            text = f"{len(ids)} functions, {len(ids & listed)} in pciPassthrough, {wrong} in dynamicPassthrough"
            yield either(ids <= listed and not wrong, name, text)


@rule("device-groups-are-pairs")
def groups(evidence):
    for name, values in evidence.answers("QueryConfigTarget").items():
        for target in values:
            for one in target.all("vendorDeviceGroupInfo"):
                parts = [part.text("deviceName") or "" for part in one.all("componentDeviceInfo")]
                cards = [part for part in parts if re.search(r"connectx|bluefield|MT\d{4,5}", part, re.IGNORECASE)]
                values_text = f"{one.text('deviceGroupName')}: {', '.join(parts)}"
                yield either(len(parts) == 2 and len(cards) == 1, name, values_text)


@rule("numa-node-threads")
def numa(evidence):
    for host in evidence.hosts:
        nodes = host.all("hardware.numaInfo.numaNode")
        threads, cores = host.number("hardware.cpuInfo.numCpuThreads"), host.number("hardware.cpuInfo.numCpuCores")
        real = sum(len(one.all("cpuID")) for one in nodes)
        if real and threads and cores and threads != cores:
            values = f"{real} CPU ids in {len(nodes)} nodes, {threads} threads, {cores} cores"
            yield either(real == threads, host.name, values)


@rule("esxi-own-resources")
def own_resources(evidence):
    for cluster in evidence.clusters:
        hosts = [evidence.find("HostSystem", moid) for moid in cluster.texts("host")]
        hosts = [one for one in hosts if one is not None and one.text("runtime.connectionState") == "connected"]
        hosts = [one for one in hosts if one.text("runtime.inMaintenanceMode") == "false"]
        real = cluster.number("summary.effectiveMemory")
        sizes = [(one.number("hardware.memorySize") or 0) // MB for one in hosts]
        total = sum(sizes)
        if real is None or not total or cluster.number("summary.numEffectiveHosts") != len(hosts):
            continue
        own, expected = total - real, total - sum(map(resources.effective_of, sizes))
        values = f"{own} MB of {total} MB are not for VMs, the twin has {expected} MB"
        yield either(LEAST * expected <= own <= MOST * expected, cluster.name, values)


@rule("single-vib-has-no-component")
def components(evidence):
    for host in evidence.hosts:
        outputs = evidence.outputs("hosts", host.name)
        vibs, listed = outputs.rows("software vib list"), outputs.rows("software component list")
        if vibs is None or listed is None:
            continue
        versions = {str(row.get("version")) for row in listed}
        for vib in vibs:
            if "NVIDIA" in str(vib.get("vendor", "")).upper() and not any(
                "NV" in str(one.get("name")) for one in listed
            ):
                yield confirms(
                    host.name, f"{vib.get('name')} {vib.get('version')} without one of {len(versions)} components"
                )


@rule("driver-vib-names")
def vib_names(evidence):
    for host in evidence.hosts:
        for vib in evidence.outputs("hosts", host.name).rows("software vib list") or []:
            name = str(vib.get("name", ""))
            if str(vib.get("vendor", "")).upper() == "NVIDIA" and re.search(r"driver|host", name, re.IGNORECASE):
                yield either(_known(name), host.name, f"VIB {name} {vib.get('version')}")


def _known(name):
    """Whether a name follows one of the twin's, apart from the release of ESXi in it."""
    plain = re.sub(r"\d+(?:\.\d+)*", "N", name)
    return plain in {re.sub(r"\d+(?:\.\d+)*", "N", one) for one in packages.FAMILY_OF}
