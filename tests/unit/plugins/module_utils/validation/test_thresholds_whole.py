# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The limits of every figure for each data path and speed, and the rules of what is compared, as approved."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import expected, suite, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

from unit import approved

# What the words of marks distinguish.
VARIANTS = sorted({variant for mark in thresholds.MARKS for variant in mark.variants})
RANKS = sorted({mark.ranks for mark in thresholds.MARKS if mark.ranks})
GPUS = ("NVIDIA A100-40C", "NVIDIA H100 80GB", "NVIDIA L40S", "")


def about(check, **intent):
    reported = expected.intent_of({"guests": ["job-01", "job-02"], **intent})
    return About(check, {}, "", reported, {}, {"rdma_gbs": 11.5})


def line(mark):
    # The source is in words, of which the facts count.
    facts = str(approved.outline(mark["source"])).removeprefix("~").strip()
    return f"{mark['low']}..{mark['high']};{mark['verdict']};{mark['text']};{facts}".replace(" ", "_")


def limits(path, speed):
    """{check and what it is measured with: its limits}, where they are not those of the check alone."""
    found = {}
    kinds = [*(((), None, gpu) for gpu in GPUS), *(((one,), None, GPUS[0]) for one in VARIANTS)]
    kinds += [((*one,), count, GPUS[0]) for one in ((), *((word,) for word in VARIANTS)) for count in RANKS]
    for check in suite.CHECKS:
        for variants, ranks, gpu in kinds:
            subject = about(check, data_path=path, speed_gb=speed, gpu=gpu)
            marks = thresholds.marks(check, subject, None, variants, ranks, "unit")
            lacking = thresholds.lacking(check, subject, None, variants, ranks)[0]
            reported = "|".join([*map(line, marks), str(approved.outline(lacking))])
            if reported != found.get(check, ""):
                words = [*variants, *([f"{ranks} ranks"] if ranks else []), *([gpu] if gpu != GPUS[0] else [])]
                found["/".join((check, *words))] = reported
    return found


@pytest.mark.parametrize("path", ["tcp", "pvrdma", "sriov", "passthrough"])
def test_limits_of_each_figure(path):
    approved.check(__file__, path, limits(path, 100))
    for speed in (200, 400, None):
        approved.check(__file__, f"{path} {speed}", limits(path, speed), limits(path, 100))


def test_rules_of_each_check():
    found = {}
    for kind, keys in thresholds.RULES.items():
        for key in keys:
            usual = found[f"{kind}.{key}"] = thresholds.rule(kind, key)
            found[f"{kind}.{key} on processors"] = thresholds.rule(kind, key, cpu=True)
            for check in suite.CHECKS:
                if thresholds.rule(kind, key, check) != usual:
                    found[f"{kind}.{key} {check}"] = thresholds.rule(kind, key, check)
    approved.check(__file__, "rules", found)


def test_words_of_a_site_are_compared_with_its_unit():
    given = {"pair.write_bw": {"low": 0.5, "warn_low": 0.6, "high": 1.1, "share": "rdma"}}
    subject = about("pair.write_bw", data_path="sriov", speed_gb=100)
    assert thresholds.marks("pair.write_bw", subject, given, unit="Gb/s") == [
        {
            "low": 5.75,
            "high": 12.65,
            "verdict": "fail",
            "source": "the site",
            "from_site": True,
            "text": "at least 5.75 and at most 12.65 Gb/s (50 % of the RDMA bandwidth of 11.5 GB/s)",
        },
        {
            "low": 6.9,
            "high": None,
            "verdict": "warn",
            "source": "the site",
            "from_site": True,
            "text": "at least 6.9 Gb/s (60 % of the RDMA bandwidth of 11.5 GB/s), else a warning",
        },
    ]
    unknown = About("pair.write_bw", {}, "", subject.intent, {}, {})
    assert thresholds.marks("pair.write_bw", unknown, given) == []
    assert thresholds.lacking("pair.write_bw", unknown, given) == (thresholds.LACKING["rdma"], True)
