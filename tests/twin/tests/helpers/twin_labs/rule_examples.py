"""Miniature captures that confirm, refute or do not decide each rule of a capture."""

from __future__ import annotations

from twin_labs.captures import capture, card, esxcli, guest, host, switch, thing, vm
from vsphere_twin.esxcli.commands.counters import RDMA_ROWS
from vsphere_twin.model.resources import overhead_of

A40, A40_Q = "grid_a40-48c", "grid_a40-48q"
NVAIE = [{"Name": "NVD-AIE_ESXi_8.0.0_Driver", "Vendor": "NVIDIA", "Version": "550.54.16"}]
GPU = {"deviceName": "NVIDIA A100 PCIe 40GB", "vendorName": "NVIDIA Corporation", "pciId": "0000:3b:00.0"}


def gpu(vms=(), active="sharedDirect", mode="sameSize", **more):
    return {**GPU, "graphicsType": active, "vgpuMode": mode, "vm": list(vms), **more}


def vgpu(name="grid_a100-40c", key=13000):
    backing = {"_": "VirtualPCIPassthroughVmiopBackingInfo", "vgpu": name}
    return {"_": "VirtualPCIPassthrough", "key": key, "controllerKey": 100, "unitNumber": 18, "backing": backing}


def dynamic(assigned):
    backing = {"_": "VirtualPCIPassthroughDynamicBackingInfo", **({"assignedId": assigned} if assigned else {})}
    return {"_": "VirtualPCIPassthrough", "key": 13000, "controllerKey": 100, "backing": backing}


def types(*names, mode="sameSize", vibs=None, board="NVIDIA A40"):
    config = {"sharedPassthruGpuTypes": list(names), "graphicsInfo": [gpu(mode=mode, deviceName=board)]}
    return capture(host(config), outputs=esxcli({"software vib list": vibs}) if vibs is not None else {})


def running_vgpu(types_of, mode="sameSize"):
    config = {"sharedPassthruGpuTypes": types_of, "graphicsInfo": [gpu(["vm-101"], mode=mode)]}
    return capture(host(config), vm([vgpu("grid_a100-10c")]))


def rtx(version, names):
    config = {
        "product": {"version": version},
        "sharedPassthruGpuTypes": names,
        "graphicsInfo": [gpu(deviceName="NVIDIA RTX PRO 6000 Blackwell", mode="multiInstanceGpu")],
    }
    return capture(host(config))


def placed(number):
    text = f"    vGPU ID : 1\n        vGPU Name : NVIDIA A40-8Q\n        Placement ID : {number}\n"
    return capture(host(), outputs={("hosts", "host-001"): {"commands": {"nvidia-smi vgpu -q": text}}})


def instances(*rows):
    text = "".join(f"|   0  MIG 1g.5gb         19        {n}          {start}:1     |\n" for n, start in rows)
    commands = {"nvidia-smi mig -lgi": text}
    hardware = {"pciDevice": [{"id": GPU["pciId"], "deviceId": 0x20F1}]}
    one = host({"graphicsInfo": [gpu()]}, hardware=hardware)
    return capture(one, outputs={("hosts", "host-001"): {"commands": commands}})


def lgip(branch, width, free):
    frame = f"+{'-' * (width - 2)}+\n"
    commands = {
        "nvidia-smi mig -lgip": f"{frame}|   0  MIG 1g.5gb 19     {free}/7        4.75       No  |\n{frame}",
        "nvidia-smi mig -lgi": "No GPU instances found: Not Found\n",
        "nvidia-smi -q -x": f"<nvidia_smi_log><driver_version>{branch}.10</driver_version></nvidia_smi_log>",
    }
    return capture(host(), outputs={("hosts", "host-001"): {"commands": commands}})


def port(active, listed):
    config = {
        "pciPassthruInfo": [{"id": "0000:3b:00.1", "passthruActive": active}],
        "network": {"pnic": [{"device": "vmnic4", "pci": "0000:3b:00.1"}] if listed else []},
    }
    device = {"id": "0000:3b:00.1", "classId": 0x200, "deviceName": "ConnectX-6 Dx"}
    return capture(host(config, hardware={"pciDevice": [device]}))


def functions(real, options="max_vfs"):
    info = {"_": "HostSriovInfo", "id": "0000:3a:00.0", "sriovCapable": True}
    info |= {"numVirtualFunctionRequested": 4, "numVirtualFunction": real}
    config = {"pciPassthruInfo": [info], "network": {"pnic": [{"device": "vmnic2", "pci": "0000:3a:00.0"}]}}
    rows = [{"Name": options, "Value": "8,8"}]
    return capture(host(config), outputs=esxcli({"system module parameters list --module=nmlx5_core": rows}))


def module_options(text):
    commands = {
        "esxcli system module parameters list --module=nmlx5_core": [{"Name": "max_vfs", "Value": ""}],
        "esxcfg-module -g nmlx5_core": f"nmlx5_core enabled = 1 options = '{text}'",
    }
    return capture(host(), outputs={("hosts", "host-001"): {"commands": commands}})


def rdma(mtu, state="active"):
    key = "key-vim.host.PhysicalNic-vmnic2"
    device = {"device": "vmrdma0", "driver": "nmlx5_rdma", "backing": {"pairedUplink": key}}
    device["connectionInfo"] = {"state": state, "mtu": mtu}
    return {"rdmaDevice": [device], "proxySwitch": [{"pnic": [key], "mtu": 9000}]}


def modules(devices, loaded):
    network = {**(rdma(4096) if devices else {}), "pnic": [{"device": "vmnic2", "driver": "nmlx5_core"}]}
    rows = [{"Name": "nmlx5_rdma", "Is Loaded": loaded}]
    return capture(host({"network": network}), outputs=esxcli({"system module list": rows}))


def pfc(bits, rx="0x08"):
    rows = [{"Name": "pfctx", "Value": "0x18"}, {"Name": "pfcrx", "Value": rx}]
    commands = {"system module parameters list --module=nmlx5_core": rows}
    if bits:
        commands["network nic dcb status get --nic-name=vmnic2"] = {"PFC Configuration": bits}
    network = {"pnic": [{"device": "vmnic2", "driver": "nmlx5_core"}]}
    return capture(host({"network": network}), outputs=esxcli(commands))


def heard(protocol, operation, neighbour="host-001"):
    discovery = {"protocol": protocol, "operation": operation}
    dvs = thing(
        "VmwareDistributedVirtualSwitch",
        "dvs-1",
        name="dvs-001",
        config={"uuid": "u", "linkDiscoveryProtocolConfig": discovery},
    )
    network = {"proxySwitch": [{"dvsUuid": "u", "pnic": ["key-vim.host.PhysicalNic-vmnic2"]}]}
    found = {"systemName": neighbour, "neighborInterfaceInfo": {"interfaceId": "vmnic2"}}
    command = {"show lldp neighbors detail | json": {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [found]}}}}
    return capture(dvs, host({"network": network}), outputs=switch("eos", command))


def options(pvrdma=10, passthrough=32, number=20):
    controller = {
        "_": "VirtualPCIControllerOption",
        **({"numVmxnet3VrdmaEthernetCards": {"max": pvrdma}} if pvrdma is not None else {}),
        **({"numPCIPassthroughDevices": {"max": passthrough}} if passthrough is not None else {}),
    }
    answer = {"hardwareOptions": {"virtualDeviceOption": [controller]}}
    return capture(methods={f"QueryConfigOptionEx-vmx-{number}": [answer]})


def target(dynamic_too=False, **more):
    function = {"id": "0000:3a:00.2", "deviceId": 4126}
    answer = {
        "sriov": [{"virtualFunction": True, "pciDevice": function}],
        "pciPassthrough": [{"pciDevice": function}],
        "dynamicPassthrough": [{"deviceId": 4126 if dynamic_too else 8433}],
    }
    return capture(methods={"QueryConfigTarget-host-101": [{**answer, **more}]})


def group(*parts):
    one = {"deviceGroupName": "group", "componentDeviceInfo": [{"deviceName": part} for part in parts]}
    return target(vendorDeviceGroupInfo=[one])


def numa(ids):
    hardware = {
        "cpuInfo": {"numCpuThreads": 8, "numCpuCores": 4},
        "numaInfo": {"numaNode": [{"cpuID": list(range(ids // 2))}, {"cpuID": list(range(ids // 2))}]},
    }
    return capture(host(hardware=hardware))


def overhead(mb, three_d=False):
    card = {"_": "VirtualMachineVideoCard", "enable3DSupport": three_d}
    return capture(vm([card], config={"initialOverhead": {"initialMemoryReservation": mb * 1024 * 1024}}))


def cluster(effective_gb):
    summary = {"effectiveMemory": effective_gb * 1024, "numEffectiveHosts": 1}
    made = thing("ClusterComputeResource", "domain-c1", name="cluster-001", host=["host-101"], summary=summary)
    runtime = {"connectionState": "connected", "inMaintenanceMode": False}
    return capture(made, host(runtime=runtime, hardware={"memorySize": 512 * 1024**3}))


def drs(*drs_rules):
    found = [{"_": "ClusterAntiAffinityRuleSpec", "key": key, "vm": vms} for key, vms in drs_rules]
    return capture(thing("ClusterComputeResource", "domain-c1", name="cluster-001", configurationEx={"rule": found}))


def reserved(mb, device=True):
    memory = {"memoryAllocation": {"reservation": mb}}
    return capture(vm([vgpu()] if device else [], resourceConfig=memory))


def firmware(size, name="grid_a100-40c"):
    extra = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": size}
    return capture(vm([vgpu(name)], extra=extra, config={"firmware": "efi"}))


def vgpu_count(number, version="8.0.3"):
    return capture(host({"product": {"version": version}}), vm([vgpu(key=13000 + count) for count in range(number)]))


def failed(fault):
    event = {"_": "VmFailedToPowerOnEvent", "vm": {"name": "vm-001"}, "reason": {"fault": {"_": fault}}}
    return capture(methods={"QueryEvents": [event]})


def moved(allowed):
    event = {"_": "VmMigratedEvent", "vm": {"vm": "vm-101"}, "createdTime": "2026-02-02T00:00:00+00:00"}
    option = [{"key": "vgpu.hotmigrate.enabled", "value": allowed}] if allowed else []
    return capture(
        vm([vgpu()], runtime={"bootTime": "2026-02-01T00:00:00+00:00"}),
        thing("OptionManager", "VpxSettings", setting=option),
        methods={"QueryEvents": [event]},
    )


SOFTWARE = "/api/esx/settings/clusters/domain-c1/software"


def applied(state):
    task = {"state": state, "descriptionId": "com.vmware.esx.settings.clusters.software.apply"}
    event = {"_": "TaskEvent", "info": task}
    result = {f"{SOFTWARE}/reports/last-apply-result": {"status": "ERROR"}}
    return capture(rest=result, methods={"QueryEvents": [event]} if state else {})


def impact(status, found):
    return capture(rest={f"{SOFTWARE}/compliance": {"hosts": {"host-101": {"status": status, "impact": found}}}})


def drift(status, components):
    answers = {
        SOFTWARE: {"components": {"ESXi-base": "1"}},
        f"{SOFTWARE}/compliance": {"hosts": {"host-101": {"status": status}}},
    }
    return capture(host(), rest=answers, outputs=esxcli({"software component list": components}))


def software(vibs, components=None):
    commands = {"software vib list": vibs}
    return capture(
        host(), outputs=esxcli(commands if components is None else {**commands, "software component list": components})
    )


NVD = [{"Name": "NVD-AIE-800", "Vendor": "NVIDIA", "Version": "1"}]
ROOT, SYSTEM = "/redfish/v1", "/redfish/v1/Systems/1"


def bmc(vendor, attributes=None, registry=(), depends=(), values=(), resets=None):
    entries = [{"AttributeName": one, "Value": [{"ValueName": value} for value in values]} for one in registry]
    maps = [
        {"Dependency": {"MapFrom": [{"MapFromAttribute": source}], "MapToAttribute": end}} for source, end in depends
    ]
    reset = {"ResetType@Redfish.AllowableValues": resets} if resets else {}
    resources = {
        ROOT: {},
        SYSTEM: {"Manufacturer": vendor, "Actions": {"#ComputerSystem.Reset": reset}},
    }
    if attributes is not None:
        resources[f"{SYSTEM}/Bios"] = {"Attributes": attributes}
    if registry:
        resources["/redfish/v1/Registries/Bios"] = {"RegistryEntries": {"Attributes": entries, "Dependencies": maps}}
    return capture(bmcs={"bmc-001": resources})


def eos(mtu, line=""):
    commands = {
        "show running-config | section x": f"hostname switch-001\ninterface Ethernet1\n{line}",
        "show interfaces | json": {"interfaces": {"Ethernet1": {"forwardingModel": "bridged", "mtu": mtu}}},
    }
    return capture(outputs=switch("eos", commands, model="DCS-7280CR3-32P4"))


def nxos(mtu, policy=9216):
    commands = {
        "show running-config ipqos": f"policy-map x\n  mtu {policy}\n  service-policy type network-qos x\n",
        "show running-config interface": "interface Ethernet1/1\n  switchport\n",
        "show interface | json": {"TABLE_interface": {"ROW_interface": [{"interface": "Ethernet1/1", "eth_mtu": mtu}]}},
    }
    return capture(outputs=switch("nxos", commands))


def sonic(mapped):
    stock = {"AZURE": {str(code): "3" if code in (3, 4) else "1" for code in range(64)}}
    tables = {"PORT": {"Ethernet0": {}}, "PORT_QOS_MAP": {"Ethernet0": {}} if mapped else {}, "DSCP_TO_TC_MAP": stock}
    return capture(outputs=switch("sonic", {"cat /etc/sonic/config_db.json": tables}))


def os10(mtu, ip_mtu):
    commands = {
        "show running-configuration": "interface ethernet1/1/1\n no shutdown\n!\n",
        "show interface": f"Ethernet 1/1/1 is up\nMTU {mtu} bytes, IP MTU {ip_mtu} bytes\n",
    }
    return capture(outputs=switch("os10", commands))


def onyx(config, mode):
    return capture(
        outputs=switch("onyx", {"show running-config | include x": config, "show roce": f"RoCE mode : {mode}"})
    )


def cumulus(data):
    return capture(outputs=switch("cumulus", {"nv show qos roce -o json": data}, model="MSN3700"))


NOTHING = capture(host(), vm())
# rule: (a capture that confirms it, one that refutes it, one that does neither)
EXAMPLES = {
    "vgpu-types-by-driver": (types(A40, vibs=NVAIE), types(A40, A40_Q, vibs=NVAIE), types(A40_Q)),
    "mig-types-exclusive": (
        types("grid_a100-1-5c", mode="multiInstanceGpu"),
        types("grid_a100-1-5c", "grid_a100-5c", mode="multiInstanceGpu"),
        NOTHING,
    ),
    "shared-types-are-supported": (
        running_vgpu(["grid_a100-10c", "grid_a100-20c"]),
        running_vgpu([]),
        running_vgpu(["grid_a100-10c", "grid_a100-20c"], mode="mixedSize"),
    ),
    "rtx-pro-6000-mig": (
        rtx("8.0.3", []),
        rtx("8.0.3", ["nvidia_rtx_pro_6000-1-24c"]),
        rtx("9.0.0", ["nvidia_rtx_pro_6000-1-24c"]),
    ),
    "placements-are-multiples": (placed(8), placed(9), NOTHING),
    "mig-start-order": (instances((9, 6)), instances((7, 0)), instances((9, 6), (7, 4))),
    "vgpus-share-a-gpu": (
        capture(host({"graphicsInfo": [gpu(["vm-101"]), gpu()]}), vm([vgpu(), vgpu(key=13001)])),
        None,
        capture(host({"graphicsInfo": [gpu(["vm-101"]), gpu(["vm-101"])]}), vm([vgpu(), vgpu(key=13001)])),
    ),
    "graphics-type-waits": (
        capture(
            host(
                {
                    "graphicsInfo": [gpu(["vm-101"], active="shared")],
                    "graphicsConfig": {"deviceType": [{"deviceId": GPU["pciId"], "graphicsType": "sharedDirect"}]},
                }
            )
        ),
        None,
        NOTHING,
    ),
    "basic-without-driver": (
        capture(host({"graphicsInfo": [gpu(active="basic")]}), outputs=esxcli({"software vib list": []})),
        capture(host({"graphicsInfo": [gpu(active="shared")]}), outputs=esxcli({"software vib list": []})),
        capture(host({"graphicsInfo": [gpu(active="basic")]})),
    ),
    "passthrough-port-is-hidden": (port(True, False), port(True, True), port(False, True)),
    "sriov-api-and-max-vfs": (functions(8), functions(6), functions(4, options="other")),
    "unknown-module-options-stay": (module_options("max_vfs=8 pfcx=1"), None, module_options("max_vfs=8")),
    "rdma-path-mtu": (
        capture(host({"network": rdma(4096)})),
        capture(host({"network": rdma(1024)})),
        capture(host({"network": rdma(1024, state="down")})),
    ),
    "rdma-devices-need-module": (modules(True, True), modules(True, False), modules(False, True)),
    "pfc-masks": (pfc("0 0 0 1 0 0 0 0"), pfc("0 0 0 1 1 0 0 0"), pfc("")),
    "switch-lldp": (heard("lldp", "both"), heard("cdp", "listen"), heard("cdp", "listen", "host-009")),
    "mig-lgip-text": (lgip(510, 79, 0), lgip(510, 79, 7), lgip(600, 79, 7)),
    "rdma-statistics-rows": (
        capture(host(), outputs=esxcli({"rdma device stats get --device=vmrdma0": dict.fromkeys(RDMA_ROWS, 0)})),
        capture(host(), outputs=esxcli({"rdma device stats get --device=vmrdma0": {"Packets received": 0, "CNPs": 0}})),
        NOTHING,
    ),
    "pci-device-keys": (capture(vm([vgpu()])), capture(vm([vgpu(key=14000)])), NOTHING),
    "passthru-numbering": (
        capture(vm([card(0), card(1)], extra={"ethernet0.pciSlotNumber": 192, "ethernet1.pciSlotNumber": 224})),
        capture(vm([card(1)], extra={"ethernet0.pciSlotNumber": 192})),
        capture(vm([card()])),
    ),
    "guest-adapter-names": (guest(192, 224), guest(160, 192), capture(vm([card()]))),
    "extra-config-keys": (
        capture(vm(extra={"pcipassthru.use64bitmmio": "TRUE"})),
        capture(vm(extra={"pciPassthru.use64bitMMIO": "TRUE", "pcipassthru.use64bitmmio": "FALSE"})),
        # Two keys with one pseudonym.
        capture(vm(config={"extraConfig": [{"key": "folder-001", "value": one} for one in "ab"]})),
    ),
    "pvrdma-options": (options(10), options(1), options(None)),
    "hardware-limits": (options(), options(passthrough=16), options(passthrough=None)),
    "config-target-functions": (target(), target(dynamic_too=True), target(sriov=[])),
    "device-groups-are-pairs": (group("NVIDIA A100", "ConnectX-6 Dx"), group("NVIDIA A100", "NVIDIA A100"), target()),
    "assigned-ids": (
        capture(vm([dynamic("0000:3b:00.0")])),
        capture(vm([dynamic("")])),
        capture(vm([dynamic("")], on=False)),
    ),
    "numa-node-threads": (numa(8), numa(4), NOTHING),
    "vm-overhead": (overhead(overhead_of(16, 64 * 1024)), overhead(900), overhead(900, three_d=True)),
    "esxi-own-resources": (cluster(449), cluster(496), NOTHING),
    "server-does-not-lock-memory": (
        capture(vm([vgpu()], config={"memoryReservationLockedToMax": False, "memoryAllocation": {"reservation": 0}})),
        None,
        capture(
            vm([vgpu()], config={"memoryReservationLockedToMax": True, "memoryAllocation": {"reservation": 65536}})
        ),
    ),
    "all-memory-reserved": (reserved(65536), reserved(0), reserved(0, device=False)),
    "gpu-firmware-and-mmio": (firmware(128), firmware(16), firmware(0, name="grid_t4-16c")),
    "vgpus-per-vm": (vgpu_count(8), vgpu_count(5, version="7.0.3"), vgpu_count(2)),
    "power-on-faults": (failed("GenericVmConfigFault"), failed("DasConfigFault"), NOTHING),
    "drs-rule-keys": (drs((1, ["vm-1", "vm-2"]), (5, ["vm-1", "vm-3"])), drs((1, []), (2, ["vm-1", "vm-2"])), drs()),
    "vgpu-hotmigrate": (moved("true"), moved("false"), moved("")),
    "apply-reboots": (
        impact("NON_COMPLIANT", "REBOOT_REQUIRED"),
        impact("NON_COMPLIANT", "MAINTENANCE_MODE_REQUIRED"),
        impact("COMPLIANT", "NO_IMPACT"),
    ),
    "failed-apply-is-a-success": (applied("success"), applied("error"), applied("")),
    "esxcli-drifts-from-image": (drift("NON_COMPLIANT", NVD), drift("COMPLIANT", NVD), drift("COMPLIANT", [])),
    "single-vib-has-no-component": (software(NVAIE, []), None, software(NVAIE, NVD)),
    "driver-vib-names": (
        software(NVAIE),
        software([{"Name": "NVIDIA-vGPU-host-driver", "Vendor": "NVIDIA", "Version": "1"}]),
        software([]),
    ),
    "dell-virtualization-and-c-states": (
        bmc(
            "Dell Inc.",
            {"ProcVirtualization": "Enabled"},
            ("SysProfile", "ProcCStates"),
            [("SysProfile", "ProcCStates")],
        ),
        bmc("Dell Inc.", {"ProcVirtualization": "Enabled", "ProcVtd": "Enabled"}),
        bmc("Dell Inc."),
    ),
    "hpe-workload-profile": (
        bmc("HPE", None, ("WorkloadProfile", "MinProcIdlePower"), [("WorkloadProfile", "MinProcIdlePower")]),
        bmc("HPE", None, ("WorkloadProfile", "MinProcIdlePower")),
        bmc("HPE"),
    ),
    "power-cycle-by-vendor": (
        bmc("Dell Inc.", resets=["On", "PowerCycle"]),
        bmc("HPE", resets=["On", "PowerCycle"]),
        bmc("HPE"),
    ),
    "bios-attributes": (
        bmc("Dell Inc.", None, ["ProcVirtualization"], values=("Enabled", "Disabled")),
        bmc("Dell Inc.", None, ["ProcVirtualization"], values=("On", "Off")),
        bmc("Dell Inc."),
    ),
    "eos-defaults": (eos(9214), eos(1500), eos(1500, "   mtu 1500\n")),
    "nxos-network-qos-mtu": (nxos("1500"), nxos("9216"), nxos("1500", policy=1500)),
    "sonic-stock-qos": (sonic(True), sonic(False), NOTHING),
    "os10-mtu": (os10(1532, 1500), os10(1532, 1514), NOTHING),
    "onyx-weights-and-roce-line": (onyx("   roce\n", "lossless"), onyx("   hostname x\n", "lossless"), NOTHING),
    "cumulus-operational-roce": (cumulus({"mode": "lossless"}), cumulus({"enable": "on"}), cumulus({})),
}
