# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ansible_collections.aiready.vsphere.plugins.module_utils.host import at_boot

BOOT = datetime(2026, 3, 1, 8, 15, 30, tzinfo=timezone.utc)
LATER = BOOT + timedelta(minutes=20)


def notes(boot=BOOT, value="pfctx=0x08 pfcrx=0x08"):
    return {at_boot.note_name("nmlx5_core"): at_boot.note(boot, value)}


def test_a_note_of_this_boot_reports_what_it_was_booted_with():
    assert at_boot.known(notes(), "nmlx5_core", BOOT, "max_vfs=4,4") == "pfctx=0x08 pfcrx=0x08"
    assert at_boot.known(notes(value=""), "nmlx5_core", BOOT, "max_vfs=4,4") == ""


def test_after_another_boot_the_note_is_worth_nothing():
    assert at_boot.known(notes(), "nmlx5_core", LATER, "max_vfs=4,4") == "max_vfs=4,4"
    assert not at_boot.is_noted(notes(), "nmlx5_core", LATER)


def test_without_a_note_what_is_configured_was_booted():
    assert at_boot.known({}, "nmlx5_core", BOOT, "max_vfs=4,4") == "max_vfs=4,4"


def test_of_a_host_that_is_away_nothing_is_known():
    assert at_boot.known(notes(), "nmlx5_core", None, "max_vfs=4,4") is None
