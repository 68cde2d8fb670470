"""Boot settings and module parameters that the model's kernels know.

atsSupport: NVIDIA AI Enterprise user guide 5.0, 4.4. nmlx5_core: NVIDIA's driver manual for ESXi 7.0 (RSS) and the
SmartX RDMA guide (PFC, trust, max_vfs). The other settings and all descriptions are [unsure: general knowledge].
"""

from __future__ import annotations

# Name: (type, default, description), as `esxcli system settings kernel list` shows them.
SETTINGS = {
    "atsSupport": ("Bool", "FALSE", "Enable Support for PCIe ATS."),
    "disableACSCheck": ("Bool", "FALSE", "Disable the checking of PCIe Access Control Services."),
    "execInstalledOnly": ("Bool", "FALSE", "Execute only binaries that have been installed from a VIB."),
    "hyperthreading": ("Bool", "TRUE", "Enable hyperthreading if available."),
    "iovDisableIR": ("Bool", "FALSE", "Disable Interrupt Remapping in the IOMMU."),
    "logPort": ("String", "none", "Set serial port for logging."),
    "maxPCIBusNumber": ("Int", "255", "Highest PCI bus number that is scanned."),
    "netNetqueueEnabled": ("Bool", "TRUE", "Enable/disable NetQueue support."),
    "vga": ("Bool", "TRUE", "Enable the VGA console."),
}
# Module: {parameter: (type, description)}, as `esxcli system module parameters list` shows them.
MODULES = {
    "nmlx5_core": {
        "DRSS": (
            "uint",
            "Number of hardware queues for the default queue RSS. Values: 2-16, power of two; 0 disables.",
        ),
        "DYN_RSS": ("uint", "Dynamic RSS. Values: 0 disabled, 1 enabled."),
        "GEN_RSS": ("uint", "Receive side scaling for the generic queues. Values: 0-3."),
        "RSS": ("uint", "Number of hardware queues for NetQueue RSS. 0 disables."),
        "dcbx": ("uint", "Data Center Bridging Exchange. Values: 0 disabled, 1 enabled."),
        "max_queues": ("uint", "Number of NetQueues."),
        "max_vfs": ("array of uint", "Number of virtual functions per port. Values: 0-128, 0 disables. Default: 0"),
        "pfcrx": ("uint", "Priority based flow control policy on RX. Values: 0-255, one bit per priority. Default: 0"),
        "pfctx": ("uint", "Priority based flow control policy on TX. Values: 0-255, one bit per priority. Default: 0"),
        "trust_state": ("uint", "Port policy to calculate the switch priority. Values: 1 trust PCP, 2 trust DSCP."),
    },
    "nmlx5_rdma": {
        "dscp_force": ("int", "DSCP value to force on outgoing RoCE traffic. Values: 0-63, -1 disables. Default: -1"),
        "pcp_force": ("int", "PCP value to force on outgoing RoCE traffic. Values: 0-7, -1 disables. Default: -1"),
    },
    "igbn": {
        "NumQueues": ("uint", "Number of queues per port."),
    },
    "i40en": {
        "RSS": ("array of int", "Number of RSS queues per port."),
        "max_vfs": ("array of uint", "Number of virtual functions per port. Default: 0"),
    },
    "nvidia": {
        "NVreg_RegistryDwords": ("charp", "Semicolon separated list of registry keys and values."),
        "NVreg_RegistryDwordsPerDevice": ("charp", "Registry keys and values of single devices."),
    },
}
