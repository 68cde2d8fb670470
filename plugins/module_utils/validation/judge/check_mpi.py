# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of the OSU micro-benchmarks: MPI over TCP, which coordinates the ranks, or over UCX. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_cluster, check_pair, spread
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    Found,
    listing,
    number,
    short,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import ucx

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

# Test name of each program. Others contain the same words: osu_bibw counts both directions at once.
TESTS = {"pair.mpi_lat": "Latency", "pair.mpi_bw": "Bandwidth", "cluster.mpi_allreduce": "Allreduce Latency"}


def latency(values: Mapping[str, Any], about: About) -> Found:
    """Half a round trip of the smallest message."""
    return _whole(check_pair.latency(values, about), values, about)


def bandwidth(values: Mapping[str, Any], about: About) -> Found:
    """The received bandwidth of the largest message."""
    return _whole(check_pair.bandwidth(values, about), values, about)


def allreduce(values: Mapping[str, Any], about: About) -> Found:
    """The all-reduce time of the smallest message."""
    answer = Found(number(values.get("usec")))
    if answer.measured is not None:
        ranks = number(values.get("ranks"))
        if ranks and ranks < len(about.guests):
            why = f"{short(ranks)} ranks took part, fewer than the {len(about.guests)} guests."
            answer.fail(why, "the launcher, which must start ranks on every guest", "ranks")
        among = f"{short(ranks)} ranks, messages" if ranks else "Messages"
        answer.note = f"{among} of {short(values.get('bytes'))} bytes."
    return _whole(answer, values, about)


def _whole(answer: Found, values: Mapping[str, Any], about: About) -> Found:
    """The answer, with the requested test, the received data and the end of the run checked."""
    test, wanted = str(values.get("test") or ""), TESTS[about.check]
    if test and test != wanted:
        return Found(None).fail(
            f"The program measured {test} instead of {wanted}.", "site.validation.osu", "other_test"
        )
    wrong = number(values.get("wrong"))
    answer.duty = "verified data" if wrong is not None else ""
    if wrong:
        places = " and ".join(spread.where(guest, about.places) for guest in about.guests)
        sizes = "one size" if wrong == 1 else f"{short(wrong)} sizes"
        answer.fail(f"Messages of {sizes} arrived with wrong data.", places, "wrong")
    if about.intent["stack"].get("ucx"):
        _over_ucx(answer, [str(one) for one in listing(values.get("ucx"))], about)
    return check_cluster.ended(answer, values, about)


def _over_ucx(answer: Found, transports: Sequence[str], about: About) -> None:
    """Whether the log of UCX shows RDMA between the guests: MPI falls back to another transport without an error."""
    answer.duty = "; ".join(one for one in (answer.duty, "UCX over RDMA") if one)
    places = " and ".join(spread.where(guest, about.places) for guest in about.guests)
    other = [one for one in transports if not ucx.is_rdma(one)]
    if not transports:
        cause = f"Open MPI in the image of {places}: it needs the component pml ucx, as in NVIDIA's images"
        answer.fail("The log has no connection of UCX between the guests, so MPI did not use UCX.", cause, "no_ucx")
    elif other:
        why = f"UCX connected the guests over {', '.join(other)} instead of RDMA."
        answer.fail(why, f"the RDMA device or its GID of {places}", "no_ucx")
    else:
        answer.note = " ".join(one for one in (answer.note, f"UCX used {', '.join(transports)}.") if one)


# The function that reads the values of each check.
LOOKS = {
    "pair.mpi_lat": latency,
    "pair.mpi_bw": bandwidth,
    "cluster.mpi_allreduce": allreduce,
}
