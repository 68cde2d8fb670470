# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix, version

PAIRS = [
    # host, guest, allowed, rule, sure
    ("550.54.16", "550.54.15", True, "same_release", True),
    ("550.54.16-1OEM.800.1.0.20613240", "550.54.15", True, "same_release", True),
    ("470.141.05", "470.141.03", True, "same_release", True),
    ("535.161.05", "535.161.08", True, "same_release", True),
    ("550.90.05", "550.54.14", True, "same_branch", False),
    ("550.54.10", "550.90.07", True, "same_branch", False),
    ("550.54.16", "535.161.08", True, "previous_branch", True),
    ("525.105.14", "510.108.03", True, "previous_branch", True),
    ("535.54.06", "470.256.02", True, "previous_long_term_branch", True),
    ("580.65.05", "535.230.02", True, "previous_long_term_branch", False),
    ("550.54.16", "570.124.06", False, "newer_guest", True),
    ("470.63", "510.47.03", False, "newer_guest", True),
    ("550.54.16", "525.60.13", False, "older_guest", True),
    ("570.124.03", "535.54.03", False, "older_guest", True),
    ("580.65.05", "470.256.02", False, "older_guest", True),
    ("470.63", "450.248.02", True, "previous_long_term_branch", True),
    ("595.71.03", "595.71.05", True, "same_release", True),
    ("595.71.03", "580.65.06", True, "previous_branch", True),
    ("595.71.03", "570.124.06", False, "older_guest", True),
    ("610.10.01", "595.71.05", True, "previous_branch", False),
    ("610.10.01", "580.65.06", False, "unknown_branch", False),
    ("610.10.01", "610.20.01", True, "same_branch", False),
    ("550.54.16", "610.10.01", False, "newer_guest", True),
    ("550.54.16", "545.23.08", False, "unknown_branch", False),
    ("525.105.14", "528.89", False, "unknown_branch", False),
    ("545.23.08", "535.54.03", False, "unknown_branch", False),
    ("545.23.08", "545.29.06", True, "same_branch", False),
    ("470.63", "418.226.00", False, "older_guest", True),
    ("418.226.00", "470.63.01", False, "newer_guest", True),
    ("550.54.16", "latest", False, "not_a_version", False),
    ("", "550.54.15", False, "not_a_version", False),
]


@pytest.mark.parametrize("host, guest, allowed, rule, sure", PAIRS)
def test_a_guest_runs_on_a_host_by_the_published_rules_and_by_no_comparison_of_texts(host, guest, allowed, rule, sure):
    verdict = matrix.guest_allowed(host, guest)
    assert (verdict.allowed, verdict.rule, verdict.sure) == (allowed, rule, sure)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize("release", matrix.RELEASES, ids=lambda release: release.name)
def test_every_release_pairs_with_itself_and_belongs_to_a_known_branch(release):
    host, guest = version.parse(release.host), version.parse(release.guest)
    majors = {branch.number: branch.major for branch in matrix.BRANCHES}
    assert host.branch == guest.branch
    assert majors[host.branch] == int(release.name.partition(".")[0])
    assert matrix.guest_allowed(release.host, release.guest).rule == "same_release"


def test_newer_guests_are_never_allowed_whatever_the_branches():
    numbers = [branch.number for branch in matrix.BRANCHES]
    pairs = [(host, guest) for host in numbers for guest in numbers if guest > host]
    assert len(pairs) == len(numbers) * (len(numbers) - 1) / 2
    assert not [pair for pair in pairs if matrix.guest_allowed(f"{pair[0]}.1.1", f"{pair[1]}.1.1").allowed]


@pytest.mark.parametrize(
    "host, branches",
    [
        ("550.54.16", [550, 535]),
        ("535.54.06", [535, 525, 470]),
        ("580.65.05", [580, 570, 535]),
        ("595.71.03", [595, 580]),
        ("610.10.01", [610, 595]),
        ("nonsense", []),
    ],
)
def test_the_branches_that_a_host_takes_are_listed_newest_first(host, branches):
    assert matrix.guest_branches(host) == branches


def test_a_host_driver_that_two_releases_share_is_reported_by_both_names():
    assert matrix.release_of("535.161.05") == "16.4/16.5"
    assert matrix.release_of("550.54.16-1OEM.800.1.0.20613240") == "17.1"
    assert matrix.release_of("550.99.99") is None
