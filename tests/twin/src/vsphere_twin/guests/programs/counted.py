"""Names of the adapters' counters, and the files in which the kernel shows them."""

from __future__ import annotations

from vsphere_twin.model import traffic

FOLDER = "/sys/class/infiniband"
# In the order in which mlx5_ib declares them.
HARDWARE = (
    "rx_write_requests",
    "rx_read_requests",
    "rx_atomic_requests",
    "rx_dct_connect",
    "out_of_buffer",
    "out_of_sequence",
    "duplicate_request",
    "rnr_nak_retry_err",
    "packet_seq_err",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "resp_local_length_error",
    "resp_cqe_error",
    "req_cqe_error",
    "req_remote_invalid_request",
    "req_remote_access_errors",
    "resp_remote_access_errors",
    "resp_cqe_flush_error",
    "req_cqe_flush_error",
    "req_transport_retries_exceeded",
    "req_rnr_retries_exceeded",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "roce_slow_restart_cnps",
    "roce_slow_restart_trans",
    "rp_cnp_ignored",
    "rp_cnp_handled",
    "np_ecn_marked_roce_packets",
    "np_cnp_sent",
    "rx_icrc_encapsulated",
)
PORT = (
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "port_rcv_constraint_errors",
    "port_rcv_data",
    "port_rcv_errors",
    "port_rcv_packets",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_packets",
    "port_xmit_wait",
    "symbol_error",
    "VL15_dropped",
)


def files(one):
    """The counters of a device below its folder in /sys/class/infiniband."""
    if one.function.pvrdma:
        return {}
    counted, port = traffic.of_device(one.vm, one.function.key), f"{one.name}/ports/1"
    found = {f"{port}/hw_counters/{name}": f"{counted[name]}\n" for name in HARDWARE}
    found[f"{port}/hw_counters/lifespan"] = "10\n"
    return found | {f"{port}/counters/{name}": f"{counted[name]}\n" for name in PORT}


def fresh(call, one):
    """The same as files with whole paths, for a program that root runs; of others the poll of the guest takes care."""
    return {f"{FOLDER}/{path}": content for path, content in files(one).items()} if call.guest.uid == 0 else {}
