"""Outputs of tools: the shapes are those of public logs, the figures are ours."""

from __future__ import annotations

import json

LINE = "-" * 87
ABOUT = """ Dual-port       : OFF          Device         : mlx5_0
 Number of qps   : {qps}            Transport type : IB
 Connection type : RC           Using SRQ      : OFF
 PCIe relax order: ON
 TX depth        : 128
 CQ Moderation   : 1
 Mtu             : {mtu}[B]
 Link type       : Ethernet
 GID index       : 3
 Max inline data : 0[B]
 rdma_cm QPs\t : {cm}
 Data ex. method : Ethernet"""
ADDRESS = """ {side} address: LID 0000 QPN 0x0{number:03x} PSN 0x5cac14 RKey 0x23b2c5 VAddr 0x007f09e773f000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:50:11"""
CPU_WARNING = "Conflicting CPU frequency values detected: 1200.535000 != 1251.336000. CPU Frequency is not max."


def perftest(rows, head, name="RDMA_Write BW Test", server=False, qps=1, mtu=4096, cm="OFF", inside=()):
    """A whole output with this head and these rows of the table; inside stands before the rows."""
    begin = []
    if server:
        begin = [" WARNING: BW peak won't be measured in this run.", "", "* Waiting for client to connect... *"]
    addresses = [ADDRESS.format(side=side, number=number) for side in ("local", "remote") for number in range(qps)]
    about = ABOUT.format(qps=qps, mtu=mtu, cm=cm)
    lines = [*begin, LINE, f"                    {name}", about, LINE, *addresses, LINE, head, *inside, *rows, LINE]
    return "\n".join(lines) + "\n"


BW_GB = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
BW_MB = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
BW_MIB = BW_MB.replace("MB/sec", "MiB/sec")
BW_CPU = f"{BW_GB}    CPU_Util[%]"
BW_LEVELS = " #bytes    #sl      #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
BW_PORTS = f"{BW_GB}   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]"
LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] "
)
LAT_TIME = " #bytes        #iterations       t_avg[usec]    tps average"

NEW_HEAD = """#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
OLD_HEAD = """#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
MIB = 2**20

PING = """PING 192.168.50.12 (192.168.50.12) 8972(9000) bytes of data.
{lines}
--- 192.168.50.12 ping statistics ---
5 packets transmitted, {received} received, {loss}% packet loss, time 812ms
"""
RTT = "rtt min/avg/max/mdev = 0.101/0.213/0.402/0.090 ms\n"
TOPO = """\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV12\tSYS\tPHB\t0-31\t0-1\t\tN/A
GPU1\tNV12\t X \tPIX\tSYS\t0-31\t1\t\tN/A
NIC0\tSYS\tPIX\t X \tSYS
NIC1\tPHB\tSYS\tSYS\t X

Legend:
  X    = Self
NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""
SMI = """Driver Version                            : 550.54.15
CUDA Version                              : 12.4
Attached vGPUs                            : 1
GPU 00000000:02:00.0
    Product Name                          : NVIDIA A100-40C
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : {licence}
    ECC Mode
        Current                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 4
            SRAM Uncorrectable            : {volatile}
            DRAM Uncorrectable            : 0
        Aggregate
            Double Bit
                L1 Cache                  : 2
                Total                     : 2
    Remapped Rows
        Pending                           : {pending}
        Remapping Failure Occurred        : No
"""
# A whole GPU, as drivers of R580 report it.
WHOLE = """Driver Version                                         : 580.95.05
CUDA Version                                           : 13.0
Attached GPUs                                          : 1
GPU 00000000:00:06.0
    Product Name                                       : NVIDIA H100 80GB HBM3
    GPU Virtualization Mode
        Virtualization Mode                            : Pass-Through
    GPU Recovery Action                                : {action}
    ECC Mode
        Current                                        : Enabled
    ECC Errors
        Volatile
            SRAM Correctable                           : 3
            SRAM Uncorrectable Parity                  : 0
            SRAM Uncorrectable SEC-DED                 : 0
            DRAM Correctable                           : 4
            DRAM Uncorrectable                         : 0
        Aggregate
            SRAM Correctable                           : 5
            SRAM Uncorrectable Parity                  : 0
            DRAM Correctable                           : 4
            SRAM Threshold Exceeded                    : {exceeded}
        Aggregate Uncorrectable SRAM Sources
            SRAM L2                                    : 0
        Channel Repair Pending                         : {repair}
        TPC Repair Pending                             : No
        Unrepairable Memory                            : {unrepairable}
    Remapped Rows
        Uncorrectable Error                            : 0
        Pending                                        : No
        Remapping Failure Occurred                     : No
    Processes                                          : None
"""
KERNEL = "[    0.000000] Linux version 5.15.0\n"
XID = "[ 3606.832215] NVRM: Xid (PCI:0000:03:00): {}, pid=67769, name=python3, what happened\n"
TRACKING = """Reference ID    : {reference}
Stratum         : {stratum}
System time     : 0.000312000 seconds {word} of NTP time
Root dispersion : 0.000901 seconds
Leap status     : {leap}
"""
ETHTOOL = """NIC statistics:
     rx_packets: 900
     rx_prio3_pause: 5
     rx_discards_phy: {}
     tx_prio3_pause_duration: 77
"""


def nccl_row(size, algbw, factor=1.0, wrong="0", root=True):
    """A row whose time, algorithm and bus bandwidth fit together."""
    time = size / algbw / 1e3 if algbw else 15.5
    half = f"{time:10.1f} {algbw:7.2f} {algbw * factor:7.2f}"
    place = "     -1" if root else ""
    return f"{size:12d} {size // 4:13d}     float     sum{place} {half} {wrong:>6} {half} {wrong:>6}"


def nccl_tests(rows, head=NEW_HEAD, bounds="0 OK", average=3.3, ranks=(), version="2.22.3+cuda12.6", rccl=False):
    lines = [
        f"#  Rank  {number} Group  0 Pid {900 + number} on {host} device  0 [0x0f] NVIDIA A100-40C"
        for number, host in enumerate(ranks)
    ]
    lines += [f"NCCL version {version}", "#", *head.splitlines(), *rows]
    if rccl:
        lines.append("# Errors with asterisks indicate errors that have exceeded the maximum threshold.")
    lines += [f"# Out of bounds values : {bounds}", f"# Avg bus bandwidth    : {average} ", "#"]
    return "\n".join(lines) + "\n"


def tagged(text, rank=0):
    """As mpirun --tag-output hands it on."""
    return "".join(f"[1,{rank}]<stdout>:{line}\n" for line in text.splitlines())


def iperf3(gbps=30.0, version="3.16", error=None, udp=False, seconds=10.0, **end):
    """What iperf3 -J prints of a test of 10 seconds."""
    reported = {
        "start": {
            "version": f"iperf {version}",
            "test_start": {"protocol": "UDP" if udp else "TCP", "num_streams": 4},
            "tcp_mss_default": 8948,
        },
        "intervals": [{"sum": {"bits_per_second": gbps * 1e9}}],
        "end": {
            "streams": [{"sender": {"mean_rtt": 210}}],
            "sum_sent": {"bits_per_second": gbps * 1.01e9, "retransmits": 12},
            "sum_received": {"bits_per_second": gbps * 1e9, "seconds": seconds},
            "cpu_utilization_percent": {"host_total": 41.26, "remote_total": 88.1},
            **end,
        },
    }
    if error:
        reported["error"] = error
        reported["end"] = {}
    return json.dumps(reported, indent="\t")


def pings(count, server=False):
    return "".join(f"{'server ' if server else ''}ping data: rdma-ping-{number}: ABCDEFG\n" for number in range(count))
