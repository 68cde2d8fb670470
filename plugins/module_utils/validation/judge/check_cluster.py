# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of runs on several guests: launch, build, NCCL, training, and figures derived from trainings. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.training import output
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import spread
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    Found,
    listing,
    mapping,
    number,
    short,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About


def hostname(values: Mapping[str, Any], about: About) -> Found:
    """Whether a process ran on every guest."""
    there = {name: count for name, count in mapping(values.get("hosts")).items() if (number(count) or 0) > 0}
    wanted = about.guests
    text = f"{len(wanted)} guests"
    if not there:
        return Found(None, expected=text)
    ranks = sum(number(count) or 0 for count in there.values())
    answer = Found(f"{short(ranks)} processes on {len(there)} guests", expected=text, compared=False)
    if len(there) < len(wanted):
        missing = [guest for guest in wanted if guest not in there]
        reported = f": {', '.join(missing)} did not answer" if len(missing) == len(wanted) - len(there) else ""
        cause = " and ".join(spread.where(guest, about.places) for guest in missing) if reported else ""
        answer.fail(f"Processes ran on {len(there)} of {len(wanted)} guests{reported}.", cause, "ranks")
    size = number(values.get("size"))
    if size is not None and size != ranks:
        answer.fail(f"{short(ranks)} ranks reported, but {short(size)} were started.", code="ranks")
    return answer


def build(values: Mapping[str, Any], about: About) -> Found:
    """Whether Horovod of the image has the features that the run needs."""
    if not values.get("version"):
        return Found(None, expected="the features that the run needs")
    wanted = mapping(about.intent["build"])
    text = ", ".join(f"{name} ({section})" for section, names in wanted.items() for name in names)
    answer = Found(f"Horovod {values['version']}", expected=text, source="the image", compared=False)
    missing = [
        f"{name} ({section})"
        for section, names in wanted.items()
        for name in names
        if name not in listing(values.get(section))
    ]
    if missing:
        answer.fail(f"Horovod was built without {', '.join(missing)}.", "the training image", "build")
    elif not listing(values.get("frameworks")) and "frameworks" in values:
        answer.fail("Horovod was built without any framework.", "the training image", "build")
    return answer


def nccl(values: Mapping[str, Any], about: About) -> Found:
    """The bandwidth of an all-reduce and its transport, which only the NCCL log shows."""
    if values.get("backend") not in (None, "nccl"):
        return ended(_without_nccl(values), values, about)
    answer = _reduced(values, about)
    # For a fallback to sockets, the check reports more than the run.
    if mapping(values.get("verdict")).get("code") == "fell_back_to_tcp" and answer.verdict == FAIL:
        return answer
    return ended(answer, values, about)


def _without_nccl(values: Mapping[str, Any]) -> Found:
    """Ranks without GPUs: the program ran, and its bandwidth is none of NCCL."""
    wrong = number(values.get("wrong"))
    if wrong:
        why = f"{short(wrong)} values of the result are wrong."
        return Found(None).fail(why, "the memory of a guest, or the path between", "wrong")
    backend, rate = values["backend"], short(values.get("busbw"))
    return Found(None, skip=f"The ranks used no GPU, so {backend} reached {rate} GB/s. This is not a figure of NCCL.")


def ended(answer: Found, values: Mapping[str, Any], about: About) -> Found:
    """The answer, failed if the run failed: a rank can die after the last figure is printed."""
    verdict = mapping(values.get("verdict"))
    if verdict and verdict.get("state") != "passed":
        host, why = (str(verdict.get(key) or "") for key in ("host", "reason"))
        answer.skip = ""
        answer.fail(f"{why.rstrip('.') or 'The run failed'}.", spread.where(host, about.places) if host else "", "run")
    return answer


def _reduced(values: Mapping[str, Any], about: About) -> Found:
    measured = number(values.get("busbw"))
    many = number(values.get("nodes")) or len(about.guests)
    over = f" over {_wanted(about).upper()}" if many > 1 else ""
    checked = "verified results" if number(values.get("wrong")) is not None else "results"
    answer = Found(
        measured if measured else None, duty=f"{checked}{over}" if over or checked == "verified results" else ""
    )
    if values.get("alone"):
        return _alone(values, about, answer)
    if measured and values.get("large") is False:
        size = short(values.get("largest_bytes"))
        return Found(None, note=f"The largest message of {size} bytes does not fill the path.")
    if measured and many < len(about.guests):
        why = f"Ranks ran on {short(many)} of {len(about.guests)} guests."
        answer.fail(why, "the launcher, which must start ranks on every guest", "ranks")
    wrong = number(values.get("wrong"))
    if wrong:
        answer.fail(
            f"{short(wrong)} values of the result are wrong.", "a GPU, its memory, or the path between", "wrong"
        )
    if many > 1 and measured:
        _transport(values.get("transport"), _wanted(about), answer, values, about)
    if wrong is None and measured:
        answer.note = "The result values were not verified."
    return answer


def _alone(values: Mapping[str, Any], about: About, answer: Found) -> Found:
    """One rank alone: it verifies the results of the GPU, but measures no bandwidth between GPUs."""
    wanted = len(about.guests) * (number(about.intent["gpus_per_guest"]) or 1)
    wrong = number(values.get("wrong"))
    if wrong:
        return answer.fail(f"{short(wrong)} values of the result are wrong.", "the GPU, or its memory", "wrong")
    if wanted > 1:
        why = f"1 of {short(wanted)} ranks took part."
        return answer.fail(why, "the launcher, or nccl-tests built without MPI", "ranks")
    return Found(None, skip="The site has one GPU, so there is no bandwidth between GPUs.")


def kind_of_nccl(values: Mapping[str, Any], about: About) -> tuple[str, ...]:
    """The variants that select the thresholds of NCCL."""
    if (number(values.get("nodes")) or len(about.guests)) < 2:
        return ("local",)
    if values.get("transport") != "rdma":
        return ("tcp",)
    return ("gpudirect",) if values.get("gpudirect") == "all" else ("staged",)


def training(values: Mapping[str, Any], about: About) -> Found:
    """Images per second of all ranks, the dispersion of the iterations, and the transport of the gradients."""
    reported = figures(values)
    answer = Found(reported["total"], compared=reported["total"] is not None)
    if reported["total"] is None:
        return answer
    count, transport = _variant(about)
    # Ranks on CPUs do not use NCCL, so no log shows the transport.
    over = f" over {transport.upper()}" if reported["transport"] or reported["device"] == "CPU" else ""
    answer.duty = f"training on {count} guests{over}" if count > 1 and transport else "training completes"
    if reported["state"] == "failed":
        answer.fail(reported["reason"] or "The training failed.", reported["place"], "training")
    if count > 1 and transport == "rdma":
        if reported["device"] == "CPU" and reported["transport"] is None:
            why = "Ranks without GPUs do not use NCCL, so this run does not test RDMA."
            return Found(reported["total"], skip=why)
        _transport(reported["transport"], "rdma", answer, values, about)
    elif count > 1 and transport == "tcp" and reported["transport"] == "rdma":
        answer.fail("NCCL used RDMA instead of the requested TCP.", "NCCL_IB_DISABLE of the run", "transport")
    return answer


def figures(values: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a training, from the result of training_run or from the output of a benchmark."""
    throughput, printed = mapping(values.get("throughput")), mapping(values.get("benchmark"))
    rates = _rates(values)
    networks = listing(mapping(values.get("nccl")).get("networks")) if isinstance(values.get("nccl"), dict) else []
    transport = values.get("transport") if values.get("transport") in ("rdma", "tcp", "mixed") else None
    if networks:
        transport = output.transport([str(name) for name in networks])
    verdict = mapping(values.get("verdict"))
    candidates = (throughput.get("mean"), values.get("images_per_s"), values.get("total"), printed.get("total"))
    total = next((number(one) for one in candidates if number(one)), None)
    ranks = [mapping(one) for one in listing(values.get("ranks"))]
    devices = {str(one.get("device") or "").upper() for one in ranks if one.get("device")}
    device = values.get("device") or ("CPU" if devices and all(one.startswith("CPU") for one in devices) else None)
    return {
        "total": total if total and total > 0 else None,
        "rates": rates,
        "dispersion": mapping(values.get("dispersion")) or spread.dispersion(rates),
        "transport": transport,
        "device": device,
        "devices": number(values.get("devices")) or len(ranks) or None,
        "model": values.get("model") or printed.get("model"),
        "batch": values.get("batch") or printed.get("batch"),
        "state": verdict.get("state"),
        "reason": str(verdict.get("reason") or ""),
        "place": str(verdict.get("host") or ""),
        "ranks": ranks,
        "iterations": _iterations(values, rates),
    }


def _rates(values: Mapping[str, Any]) -> list[float]:
    """The rate of each iteration of all ranks, without the first, which includes the startup cost."""
    listed = listing(values.get("iterations"))
    plain = [cast("float", number(one)) for one in listed if number(one) is not None]
    if plain:
        return plain[1:] if values.get("first_left_out") else plain
    by_iteration: dict[Any, list[float]] = {}
    for one in listed:
        rate = number(mapping(one).get("samples_per_s", mapping(one).get("images_per_s")))
        if rate is not None:
            by_iteration.setdefault(mapping(one).get("iteration"), []).append(rate)
    full = max((len(some) for some in by_iteration.values()), default=0)
    rates = [sum(some) for _number, some in sorted(by_iteration.items(), key=str) if len(some) == full]
    return rates[1:] if len(rates) > 2 else rates


def _iterations(values: Mapping[str, Any], rates: Sequence[float | None]) -> list[dict[str, Any]]:
    """For a plot: [{iteration, seconds, images_per_s}]."""
    listed = [mapping(one) for one in listing(values.get("iterations")) if isinstance(one, dict)]
    if not listed:
        return [{"iteration": place, "seconds": None, "images_per_s": rate} for place, rate in enumerate(rates)]
    by_iteration: dict[Any, list[dict[str, Any]]] = {}
    for one in listed:
        by_iteration.setdefault(one.get("iteration"), []).append(one)
    made = []
    for key, some in sorted(by_iteration.items(), key=lambda pair: str(pair[0]).zfill(9)):
        rates = [number(one.get("samples_per_s", one.get("images_per_s"))) for one in some]
        seconds = [number(one.get("seconds")) for one in some]
        made.append(
            {
                "iteration": key,
                "seconds": max((one for one in seconds if one is not None), default=None),
                "images_per_s": round(sum(one for one in rates if one is not None), 3) if None not in rates else None,
            }
        )
    return made


def _transport(found: str | None, wanted: str, answer: Found, values: Mapping[str, Any], about: About) -> None:
    """Compare the transport of NCCL with the requested one."""
    if wanted != "rdma":
        if found == "rdma":
            answer.fail("NCCL used RDMA instead of the requested TCP.", "NCCL_IB_DISABLE of the run", "transport")
        return
    if found == "rdma":
        if about.intent["gpudirect"] == "enabled" and values.get("gpudirect") in ("none", "some"):
            cause = "GPUDirect: check ATS, the PCIe distance to the adapter, nvidia_peermem and DMA-BUF"
            answer.fail("Not all NCCL connections use GPUDirect RDMA.", cause, "gpudirect")
        return
    if found is None:
        names = " and ".join(str(name) for name in listing(values.get("networks")))
        used = f"NCCL used {names}, an unknown network" if names else "The NCCL log does not name its network"
        answer.fail(f"{used}, so RDMA is not proven.", "", "transport_unknown")
        return
    hosts = [str(host) for host in listing(values.get("on_sockets"))]
    places = " and ".join(spread.where(host, about.places) for host in hosts)
    reason = "it found no RDMA device" if values.get("no_device") else "it selected the sockets"
    some = "partly " if found == "mixed" else ""
    cause = f"NCCL on sockets{': ' + places if 0 < len(hosts) < len(about.guests) else ''}{_reported_to(values)}"
    answer.fail(f"NCCL {some}used TCP sockets instead of RDMA: {reason}.", cause, "nccl_sockets")


def _reported_to(values: Mapping[str, Any]) -> str:
    """The environment variable that keeps NCCL from RDMA, by its log."""
    reported = mapping(values.get("settings"))
    if str(reported.get("NCCL_IB_DISABLE", "0")) != "0":
        return "; NCCL_IB_DISABLE is set for the run"
    if values.get("no_device") and reported.get("NCCL_IB_HCA"):
        return f"; no RDMA device matches NCCL_IB_HCA, {reported['NCCL_IB_HCA']}"
    return ""


def _wanted(about: About) -> str:
    if about.intent["data_path"] == "tcp":
        return "tcp"
    return about.variant.rpartition(":")[2] if about.variant.rpartition(":")[2] in ("rdma", "tcp") else "rdma"


def _variant(about: About) -> tuple[int, str]:
    """(number of guests, transport) of '2:rdma'."""
    count, _colon, transport = about.variant.partition(":")
    return (int(count) if count.isdecimal() else len(about.guests)), transport


# The function that reads the values of each check.
LOOKS = {
    "cluster.hostname": hostname,
    "cluster.check_build": build,
    "cluster.nccl": nccl,
    "cluster.training": training,
}
