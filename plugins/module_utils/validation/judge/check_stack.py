# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of one guest that site.stack requests: DCGM and GPUDirect Storage. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    Found,
    listing,
    mapping,
    number,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.spread import where
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import dcgm, gds

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

DIAG = "site.stack.dcgm.diag"


def diagnosed(values: Mapping[str, Any], about: About) -> Found:
    """Whether all tests of the diagnostic passed that DCGM ran, and whether they covered all GPUs."""
    tests = [mapping(one) for one in listing(values.get("tests"))]
    text = f"no failed test at level {values.get('level')}"
    passed = [one for one in tests if one.get("status") == dcgm.PASSED]
    skipped = [str(one.get("name")) for one in tests if one.get("status") == dcgm.SKIPPED]
    wrong = [one for one in tests if one.get("status") not in (dcgm.PASSED, dcgm.SKIPPED)]
    if tests and not passed and not wrong:
        return Found(None, expected=text, note=f"DCGM skipped all tests: {', '.join(skipped)}.")
    answer = Found(f"{len(passed)} of {len(tests)} tests passed" if tests else None, expected=text, source=DIAG)
    for one in wrong:
        _test_failed(answer, one, about)
    many, judged = about.intent["gpus_per_guest"], len(listing(values.get("gpus")))
    if tests and not wrong and judged < many:
        cause = f"a GPU of {_me(about)} is missing in DCGM: check `dcgmi discovery -l`"
        answer.fail(f"The diagnostic covered {judged} of {many} GPUs.", cause, "dcgm")
    if skipped:
        answer.note = f"DCGM skipped {', '.join(skipped)}."
    return answer


def _test_failed(answer: Found, test: Mapping[str, Any], about: About) -> None:
    found = [mapping(one) for one in listing(test.get("findings"))]
    first = next((one for one in found if not one.get("setting")), found[0] if found else {})
    said = f": {str(first['text']).rstrip('.')}" if first.get("text") else ""
    gpu = f"GPU {first['gpu']} of {_me(about)}" if first.get("gpu") else _me(about)
    why = f"The test {test.get('name')} of DCGM"
    if found and all(one.get("setting") for one in found):
        answer.warn(f"{why} reports a setting{said}.", f"a setting of {gpu}", "dcgm")
    elif test.get("status") == dcgm.FAILED:
        answer.fail(f"{why} failed{said}.", gpu, "dcgm")
    elif test.get("status") == dcgm.WARNED:
        answer.warn(f"{why} warns{said}.", gpu, "dcgm")
    else:
        answer.fail(f"{why} has no result{said}.", f"DCGM on {_me(about)}", "dcgm")


def watched(values: Mapping[str, Any], about: About) -> Found:
    """Whether the health watches of DCGM saw an incident during the timed runs."""
    overall = values.get("overall")
    answer = Found(overall or None, expected=dcgm.HEALTHY, source="site.stack.dcgm.health")
    if not overall or overall == dcgm.HEALTHY:
        return answer
    incidents = [mapping(one) for one in listing(values.get("incidents"))]
    reported = "; ".join(f"{one.get('what')}: {one.get('text') or one.get('state')}".rstrip(".") for one in incidents)
    why = f"DCGM reports {reported or overall}."
    if overall == "Warning":
        return answer.warn(why, f"the GPUs of {_me(about)}", "dcgm_health")
    return answer.fail(why, f"the GPUs of {_me(about)}", "dcgm_health")


def storage(values: Mapping[str, Any], about: About) -> Found:
    """Whether the GPUs and a storage of the guest support GPUDirect Storage."""
    text, source = "all GPUs and a storage", "site.stack.gds.check"
    gpus = [mapping(one) for one in listing(values.get("gpus"))]
    if values.get("verified") is None:
        return Found(None, expected=text)
    served = ", ".join(str(one) for one in listing(values.get("storage")))
    answer = Found(served or "no storage", expected=text, source=source)
    bad = [str(one.get("name")) for one in gpus if not one.get("supported")]
    if not gpus or bad:
        why = f"GPUDirect Storage does not support {', '.join(sorted(set(bad))) or 'any GPU of the guest'}."
        answer.fail(why, f"the GPU, its driver or its profile in {_me(about)}", "gds")
    if not values["verified"]:
        why = "gdscheck cannot verify the platform for GPUDirect Storage."
        answer.fail(why, f"nvidia_fs or the IOMMU of {_me(about)}: see the output in the evidence", "gds")
    elif not served:
        why = "nvidia_fs serves no storage of the guest, so every read is a copy through host memory."
        answer.fail(why, f"the storage driver of {_me(about)}: NVMe, NFS over RDMA or a parallel file system", "gds")
    elif values.get("forced"):
        cause = f"properties.force_compat_mode in /etc/cufile.json of {_me(about)}"
        answer.fail("cuFile must use its compatibility mode, which copies through host memory.", cause, "gds")
    return answer


def stored(values: Mapping[str, Any], about: About) -> Found:
    """Whether a read went through nvidia_fs, and how fast it was."""
    rate, moved = number(values.get("gib_s")), number(values.get("moved"))
    answer = Found(rate, duty="a read through nvidia_fs", source="site.stack.gds.read_file")
    if rate is not None and (moved is None or moved <= 0):
        why = f"The read of {values.get('file')} was a copy through host memory: nvidia_fs counted nothing."
        answer.fail(why, f"the file system of {values.get('file')} on {_me(about)}", "gds")
    elif rate is not None and values.get("transfer") not in (None, "", gds.DIRECT):
        why = f"gdsio reports the transfer {values['transfer']} instead of {gds.DIRECT}."
        answer.fail(why, f"cuFile of {_me(about)}", "gds")
    return answer


def _me(about: About) -> str:
    return where(about.subject.get("guest", ""), about.places)


# The function that reads the values of each check.
LOOKS = {
    "guest.dcgm": diagnosed,
    "guest.gds": storage,
    "guest.gds_read": stored,
    "guest.dcgm_health": watched,
}
