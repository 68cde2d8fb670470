# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Words of switch configurations and tables that name no site. Every other word in an output is replaced.

They come from the forms that the platforms parse and from outputs that vendors publish. Words that sites use in names
of devices, such as leaf, spine and pod, are left out.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS = _words(
    """
    abort aborted absen absolute accept access acl action active acts actual add addr address admin admincfgd
    admindown administratively advertised advertises age aging aiready alert alias all allow allowed amd and any ap
    api app application applied apply apr arch architecture are arista arp arpa as asic asn assignment assured asym
    asymmetric at attached attr aug auth authentication auto autoneg autonomous autostate average averages azure
    bandwidth based basic bc beacon becn best bfd bgp bia bidirectional bin bind bios bits block bmap board bond
    boot bootflash bootup bootuptimestamp both bpdufilter bpduguard bps br bridge bridged broadcast broadcasts
    broadcom bsr buffer buffers build builder built burned burnedinaddress burst bw by bypass bytes ca cable cache
    candidate cannot capabilities capability cat cc ccap cd cdp ce cee ceiling cfe cfggen change changed channel
    chassis chassisid chassisidtype checkpoint chip cir circuit cisco class classes classification classifier
    classifiers clean clearing cli clock cmap cnp code codes codewords collection collisions color column command
    commands comment commit completed conf confederation config configmacaddress configuration configurations
    configure confirm confirmation congestion connected control copy copyright corrected correction cos cost count
    counter counters cp cpfc cpu cpus cr crc cs cumulus current dad data database datapath date day days db dcb dcbx
    dcs deactivate deadlock debian debounce dec dedicated default defaults dei delay delete dell dellemc delta desc
    descr description destination detach detail details detect detected detection dev device dfe dhcp dict diff
    differ diffs directed dis disable disabled discard discarded discards displayed distribution dns does dog domain
    dormant dot down dp dr drop dropped drops drp dscp dump duplex duplexfull duration dwrr dynamic echo ecn ect ee
    ef effort egr egress element emc enable enabled encapsulation encoding end enough enterprise entries eos err
    errdis errdisabled error errors es et etc eth ethernet ethernetn ethertype etp ets event events exact exception
    exclude executed exist exit exp expedited expire expireat explicit export extend fabric factory fadc fail false
    fastdrop faulty fcoe fe feature features feb fec fifo file fill filter find first flag flapped flash flow
    flowcontrol for force forced forward forwarding forwardingmodel forwards found frames free fri from full fwd fx
    gb gbase gbps generated gfull ghz giants global gm gratuitous green group groups guaranteed guards hardware
    hardwarerevision hash head header headroom hello helper hh high history hop host hostname hosts hw hwfailure
    hwmacaddress hwsku hybrid hz id identifier ieee if iface ifname igmp ignore image in inactive inbroadcastpkts
    inbytes inc include index indexed indiscard indiscards inerr inf info information ingress inherit init initial
    inmulticastpkts inoctets inpkts input inspection install instance int intel intent interface interfaceaddress
    interfacecounters interfacedescription interfaceid interfaceidtype interfacename interfaces interfacestatus
    interfacestatuses internal internalversion internet interpolate interval intf intotalpkts inucastpkts inval
    invalid ip ipl ipool ipqos ipv is it its jan join json jul jun juniper junos kb kbit kbps kbytes keep keeps
    kernel key keys kickstart kind known lacp lag lan lanes last later learn length less level lifetime limit line
    lineprotocolstatus lines linespeed link linkflap linkstatus linux list lldp lldpneighborinfo lldpneighbors load
    loc local localhost localizedkey localport log logging long loopback los loss lossless lossy low lowerlayerdown
    ma mac macaddress magp managed management manufacturer map mapping maps mar mark marked marking master match max
    maximum may mb mbps mbytes mc mcast md med media medium mellanox mem member memfree memory memtotal merged
    message metadata meters mfg mfgname mfib mgmt microseconds milliseconds min minimum mismat missed mlag mld mlnx
    mmu mode model modelname modes module mon monitor monitoring more mpls mpo ms msec msrp mss mt mtu multi
    multicast multicasts multiplier mvrp name names native nd needs neg negotiate negotiation neighbor
    neighbordevice neighborinterfaceinfo neighborport neighbors neighbours network never newer nexus ni no node non
    none normal not notconnect note nothing notification notify notpresent nov nq ntp null num number nv nvidia nvos
    nvue nwqos nx nxos object objects oct octets of off oid oifs ok old omit omitted on onie only onyx oob op oper
    operating operational operstatus option optional or order os ostname other out outbroadcastpkts outbytes
    outdiscard outdiscards outerr outmulticastpkts outoctets outpkts output outtotalpkts outucastpkts overrun ovr
    packet packets parent partition password patch path pause pauses pcp pd peer peers pending pendingcommittimer
    per percent permit persistent pfc pfcwd pg phy physical physicaladdress pim pir pkts platform pluggable pmap po
    point points pol policies policy policymap poll polling pool pools port portchannel portfast portid ports ppp
    precedence preference prefix premium prepare prepend present preset pri print prints prio priorities priority
    priv private pro prob probability proc product profile profiles protocol proxy prune public pv qo qos qprof qsfp
    quality query queue queues queuing ra raguard random range rate raw rdma rdscp re reachable reason reboot
    receive received recent recomm recovery red reed relative relay release reload rem remaining remote remotedevice
    remoteportdescr remoteportid remove replace requested reserved reset response rest restart restoration restore
    restored results resume rev revision rewrite rights rip ro robustness roce route routed router routes routing
    row rr rs rsn run running runningconfiguration runts rx rxcount rxpause sai sampled sat save scheduler
    schedulers sctp sec second seconds section segments selector selects semi send sends sent sep serial serve
    server servers service services session sessions set setting settings sflow sfp sh shape shaping share shared
    shares shift show shut shutdown since single size skip sku slot sm smart smartfabric sn snmp snooping so
    software sonic source sp space span spanning sparse spec speed srv standard start starts startup stat state
    static statistics stats status statuses stops storm stormed storms stp str strategy strict strings stuck sub
    subnets suboption such sudo suffixes summary sums sun supported suppress suspend suspnd sw swap swi switch
    switchname switchport swp swv sys system systemdescription systemmacaddress systemname systems table tables tag
    tagging tail target task tb tc tcp tcs technologies telnet terminal text th there thernet threshold throttles
    thu time timeout timer timestamp tl tlv tlvs to too total totalinerrors totalouterrors tracking traditional
    traffic transaction transitions transmit transmitter transport trap tree true trunk trust ttl tue tuning tuple
    tx txcount txpause type uc ucast udld udp uncorrected unicast unicasts unidirectional unit units unknown
    unreliable unsaved unset untagged untrusted up upgrade uptime us usage use usec used user username users utc
    util uuid value values vendor ver verify version veth vethernet vip virtual vl vlan vrf vs watch watchdog wd wed
    weight which with without wred write wrr wv xcvr xeon xoff xon yellow yes zero
    """
)
