# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Every esxcli command of a capture, with the fields of its answer that stay.

docs/capture_requests.md lists the same commands.
Names of fields are in lower case without blanks, because JSON, text and vCenter spell them differently. A text in any
other field is replaced, unless it is a number, a device name or a word that reveals nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A command that only reads. `each` names the argument and the earlier answer that has its values."""

    name: str
    stays: str = ""
    dropped: str = "description"
    each: tuple[str, str] | None = None

    def keeps(self, field: str) -> bool:
        """Whether the texts of a field describe products and hardware. The field of a plain answer has no name."""
        return f" {field} " in f" {self.stays} " if field else self.stays == "*"

    def drops(self, field: str) -> bool:
        return field in self.dropped.split() and not self.keeps(field)


NICS, SRIOV, RDMA, MODULES = "nics", "sriov", "rdma", "modules"
# Modules of the kernel whose parameters are read, if the host has them.
PARAMETERS_OF = ("nmlx5_core", "nmlx5_rdma", "nvidia")
_VIB = "name version vendor acceptancelevel creationdate installdate status platforms id displayname displayversion"
COMMANDS = (
    Command("system.version.get", "product version build update patch"),
    Command("system.hostname.get"),
    Command("system.maintenanceMode.get", "*"),
    Command("hardware.platform.get", "productname vendorname"),
    Command("hardware.cpu.global.get"),
    Command("hardware.memory.get"),
    Command(
        "hardware.pci.list",
        "address vmkernelname vendorname devicename configuredowner currentowner deviceclassname modulename "
        "parentdevice dependentdevice resetmethod slotdescription physicalslot",
    ),
    Command("software.profile.get", "acceptancelevel vibs creationtime modificationtime"),
    Command("software.acceptance.get", "*"),
    Command("software.vib.list", _VIB),
    Command("software.component.list", _VIB),
    Command("graphics.host.get", "defaultgraphicstype sharedpassthruassignmentpolicy"),
    Command("graphics.device.list", "vendorname devicename modulename graphicstype"),
    Command("graphics.device.stats.list", "driverversion"),
    Command("network.nic.list", "driver adminstatus linkstatus duplex description"),
    Command(
        "network.nic.get",
        "advertisedlinkmodes businfo cabletype driver firmwareversion linkstatus supportedports transceiver version",
        each=("nic_name", NICS),
    ),
    Command("network.nic.dcb.status.get", "mode pfcconfiguration", each=("nic_name", NICS)),
    Command("network.nic.pauseParams.list"),
    Command("network.sriovnic.list", "driver adminstatus linkstatus duplex description"),
    Command("network.sriovnic.vf.list", "pciaddress ownerworldid", each=("nic_name", SRIOV)),
    Command("network.vswitch.dvs.vmware.list", "class cdpstatus"),
    Command("rdma.device.list", "driver state speed description"),
    Command("rdma.device.stats.get", each=("device", RDMA)),
    Command("system.module.list", "name"),
    Command("system.module.parameters.list", "name type value", each=("module", MODULES)),
    Command("system.settings.kernel.list", "name type"),
    Command("system.settings.advanced.list", "path type impact validcharacters"),
)
# Answers that have the values of an argument, and the field with them.
SOURCES = {
    NICS: ("network.nic.list", "name"),
    SRIOV: ("network.sriovnic.list", "name"),
    RDMA: ("rdma.device.list", "name"),
    MODULES: ("system.module.list", "name"),
}
# Texts with these names identify a part, even if they consist of digits.
SERIALS = frozenset(("serialnumber", "enclosureserialnumber", "biosassettag"))
# An advanced option below one of these belongs to ESXi. Names below UserVars and Annotations can come from a site.
OPTION = re.compile(
    r"/(?:BufferCache|CBRC|COW|Config|Cpu|DCUI|DataMover|Digest|Disk|FSS|Graphics|Hbr|ISCSI|Irq|LPage|LSOM|Lsom|Mem|"
    r"Migrate|Misc|NFS|NFS41|Net|Nmp|Numa|PageRetire|Power|RdmFilter|SE|ScratchConfig|Scsi|Security|SioControlConf|"
    r"SunRPC|SvMotion|Syslog|User|VMFS|VMFS3|VMkernel|VSAN|VSAN2|VVOL|Virsto|Vpx|XvMotion)(?:/[A-Za-z0-9_]{1,60}){1,5}"
)
# The names of images that VMware publishes. A site can give its own image any name.
IMAGE = re.compile(r"(?:\(Updated\) )?ESXi-\d[\w.]{0,20}(?:-[\w.]{1,20}){0,3}-(?:standard|no-tools)")


def plain(field: str) -> str:
    """The name of a field without the differences between the formats."""
    return re.sub(r"[^a-z0-9]", "", field.lower())
