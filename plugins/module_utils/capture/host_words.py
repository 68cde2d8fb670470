# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Words and forms of the programs on hosts and guests that name no site. Every other word in an output is replaced.

They come from the outputs that vendors publish, and from those of the programs themselves.
"""

from __future__ import annotations

import re

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_words import WORDS as OF_SWITCHES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS = OF_SWITCHES | _words(
    """
    2b 2d 3d accelerator accelerators accessible accounting ack acs acsctl activity ada adapter addressing advanced
    aer aereinj affinity ah ahci alarm allmulti allocation almalinux alternative altnames am ampere applications
    area ari armed array aspeed aspm async atom atomic atomics ats atsctl attach attribute attributes aux av avago
    available bad bank banks bar bar1 base bbx bdf because been behind being between bist bit bits blackwell
    bluefield bmc bonded bonds boost bracket brake brand bridges broadwell bus busmaster busy byte cap capable caps
    card cas cascade catalog cell centos cha changes check checksum chg chipset ci clear clique clocks cluster cm
    cnt cntr co codel communicate communication comp compatible completion compliance compute compute0 connection
    connectx controller coprocessor core corporation corr correctable couldn cq cqe creatable critical cross crypto
    csum ctrl cuda cur curr customer dd deasserted decoder deemph deferred deprecated depth determine devcap
    devcap2 devctl devctl2 devices devsta dgx diagnostic different directory disintx display displays distinctive
    dma double downstream dpu draw driver dsa dual dx e1000e ec ecc ecrc edges edition edpp edr efi egm ehci electronic
    emerald emif emulex en enc encoder encryption endpoint endpoints enforce enforced engine engineering engines
    entity epyc eq equal equalization ether ethy evo ex exceeded exclusive exists expansion expected expired
    expires expiry express ext extended extension extensions external extra failed failure family fan fast fastb2b
    fatal fb fbc fbuffer fcs fdr fetchadd fields firmware fixed flags flags2 flat flit flr flreset flush fmr fmt
    fps fq frame framebuffer fru function functional functionality functions fw gbe gcc gdrdrv geforce gen general
    generation gi gib gid gids gnu gom good gp gpc gpu gpus grace granite grants graphics grid gro grp gso gsp gt
    guest guid gv handle handover hard has haswell hat hba hbm hbm2 hbm2e hbm3 hbm3e hca hdr hdr100 heads health
    healthy heterogeneous hewlett hgx hhhl hierarchy histogram hit hmm homogeneous hopper hot hotplug hpe hub
    hypervisor i440fx iax ib ice icrc identification identity idle ids ieh ifindex imc immediate inbound indexes
    indicator indirection infiniband inforom initialization inst installed instances instant insufficient
    interconnect interrupt interrupts invalidate invalidation io iommu iov ipv4 ipv6 isa isolated iwarp jpeg khz
    kib kioxia kmd l0s l1 l1ss l2 lake lane laneerr latency latest layer legend len lenovo lic licence license
    licensed licenses lid limited limiter linkmode links linkup lkey lmc lnkcap lnkcap2 lnkctl lnkctl2 lnkctl3
    lnksta lnksta2 loaded loader lost lovelace lower lowerup lp lpc lsi ltr lts lx machine major make mapped
    marvell mask masked matching matrix matrox maxpayload maxreadreq mdev memwinv mesh mfvc mgt mhz mib
    microcontroller micron mig minor mismatch mod modules monitors mono most mps mq mr msg msgd msi mst multigpu
    multiple mv mw mx nak nan ndr ndr200 net next nic nics nodes nomsg nonfatal noop nophantfunc noqueue nps nro numa
    nvl nvl4 nvl8 nvlink nvme nvrm occupied occurred ocp ocp3 odp oem ofa offset one open opened operation
    operstate optimal ordering orderly ordinary oriented osfp outbound outstanding overflow override own pacing
    packard page pagelist pages parameters paravirtual parentbus parentdev parerr parity part parterr partitioning
    pascal pasid pass passive passthrough payload pb pci pcibios pciconf pciconf0 pcie pciegen4 pciehp pcieport pcu
    pdi peermem pendingrst perf performance permaddr permission permissions persistence pfifo phantfunc phb phys
    physlot pid piix4 pix pkey pkeys placement placements plane pm pmcontrol pme pn poisoned power powered ppr
    prefetchable presence pretty previous process processes processing processor prod prog program promisc
    protected ptm pvrdma pxb qat qd qdisc qemu qkey qlogic qp qpi qsfp112 qsfp28 qsfp56 quad quadro radeon raid
    rapids rates rc rcb rd rdd read readings readreq ready reasons reb rebar receiver recommended recv redundant
    refclk reg region registers relaxed relaxedordering remapped remapper repair repairable replacements replay
    reply request requester requests required res resets resizable resolution resource resources restricted retired
    retirement retrainlink rid rlxdord rnr rob rocev1 rocev2 rocky rollover rom root round rows rq rss rtt rtx rv
    rwq rxe rxerr same samples samsung sapphire sas sata scaled scatter schedule scheduling scsi sdes sec secded
    secondary secure security segs selectable selected selection selective self serr sets severity sfp28 sfp56 sge
    shows si sidebanding signal signaling simple skylake sl slave sleep slow slowdown smallest smartnic smbus smi
    smoothing smp snoop socket sockets soft solidigm sources speccycle specific sr sram srcvalid sriov srq ssd
    started stdby steering step stepping still stop stream subnet subordinate subsys subsystem success supermicro
    support supports sure surprise suse sxm sxm2 sxm4 sxm5 sync syncflood sz t2 tabort tall tbl technology temp
    temperature tesla the therm thermal thr thresholds throttle through times tlimit tlp tpc tph tphcomp trans
    transition translated translation traversing tray trpt tso turing txqlen txqueuelen typically ubox ubuntu ucm
    ud udl uhci unable unavailable unc uncore uncorr uncorrectable uncorrerr undefined unequal unexpected unix
    unlicensed unlimited unrepairable unrestricted unsupported unsuppreq unsupreq upi upper upstream usb using
    utilization vbios vc vdev vec vector vectors vend vf vfs vga vgasnoop vgpu vgpus vi vid video viol violation
    virtio virtualization visible vital vm vmd vmkernel vmnet vmware vmxnet3 volatile volt volta voltage vpd vpi
    vsec vsga vt waiting warm warning was wdp well were width widths window within wq wr writeback xdr xhci xid xrc
    """
)
# Fields of `nvidia-smi -q -x` that name a product, a version or a time.
TAGS = _words(
    """
    atomic_caps_inbound atomic_caps_outbound board_id board_part_number bridge_chip_fw cuda_version
    driver_version ecc_object gpu_fru_part_number gpu_part_number gsp_firmware_version guest_driver_version
    img_version inforom_version latest_timestamp license_status licensed_product_name module_id oem_object
    pci_bus_id pci_device_id pci_sub_system_id product_architecture product_brand product_name product_type
    pwr_object timestamp vbios_version vgpu_name vgpu_software_licensed_product vgpu_type_name
    """
)
FORMS = re.compile(
    r"""
      (?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]                  # place on the PCI bus
    | [0-9a-f]{4}:[0-9a-f]{4}                                                    # vendor and device
    | (?:A|B|H|L|T|V|P|GH|GB|RTX|RTX[ ]?PRO)\d{1,4}[A-Z]{0,2}                    # GPU
      (?:-(?:PCIE|PCIe|SXM\d?|NVL\d*|\d{1,3}[A-Z]{1,2}|\d{1,2}))*
    | (?:GA|GB|GH|GK|GM|GP|GV|TU|AD)\d{3}(?:GL|GLM|M)?
    | MIG(?:-[A-Za-z])?|\dc?\.\d[cg](?:\.\d{1,3}gb)?(?:\+(?:me|gfx)(?:\.all)?)?
    | \d[cg]\.\d{1,3}gb(?:[+-](?:me|gfx)(?:\.all)?)?|\dc\.\dg\.\d{1,3}gb(?:\+(?:me|gfx)(?:\.all)?)?
    | NV\d{1,2}|NIC\d{1,3}|GPU\d{1,3}|CPU\d{1,3}                                # devices of a topology
    | mlx\d_(?:bond_)?\d{1,3}|mt\d{3,6}_pciconf\d{1,2}(?:\.\d)?|vmw_pvrdma\d{0,2}|rxe\d{1,2}
    | (?:roce|ib)p\d{1,3}s\d{1,3}(?:f\d)?
    | (?:nmlx5|mlx5|mlx4|ib|nvidia|vmw|vmxnet3|bnxt|irdma|qedr|ixgben|i40en|icen|ice|nvme)    # kernel module
      (?:_(?:ahci|auth|balloon|cc|cm|common|core|default|drm|en|ens|fabrics|fixed|fs|fwctl|ib|ipoib|iser|isert|keyring|
        local|modeset|mru|pci|pcie|peermem|psp|pvrdma|pvscsi|rdma|re|rr|satp|srp|srpt|tcp|transport|umad|uverbs|uvm|
        vdpa|vfio|vgpu|virtio|vmci|vsock)){0,4}
    | MT\d{4,5}[A-Z]?|ConnectX-?\d{1,2}\w{0,2}|(?:MCX|MBF)\d\w{3,10}(?:-\w{2,8})?
    | (?:MT_|DEL|HPE|LNV|SMC|FJT)\d{10}                                          # identifier of a board
    | [rvx]?\d{1,5}(?:\.\d{1,5}){0,2}[x%]?
    | \d{1,6}(?:\.\d{1,3})?(?:[KMGT]i?B?|[KMG]?Hz|GT/s|[MG]b/s|[MGK]B/s|W|mW|C|us|ns|ms|s|bit|GbE|Gb)
    | size=\d{1,5}[KMGT]?
    | \d{1,2}\.\d{1,2}\.\d{4,5}(?:-[a-z0-9]{1,12}){0,2}                           # firmware
    | \d\.\d{1,2}\.\d{1,3}-(?:flatcar|\d{1,6}(?:[.-](?:                           # kernel
        \d{1,5}|generic|amd64|cloud|aws|azure|lowlatency|el\d{1,2}(?:_\d{1,2})?(?:uek)?|x86_64|aarch64|fc\d{2}|default|
        amzn\d{1,4}|ph\d|oe\d{4}(?:sp\d)?|rt|64k)){0,7}(?:\+(?:rt|64k))?)
    """,
    re.VERBOSE,
)
