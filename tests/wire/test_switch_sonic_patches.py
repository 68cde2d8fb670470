"""SONiC's patches in the twin: what is taken, what is refused, checkpoints; and the shell over SSH."""

from __future__ import annotations

import json

import pytest

from twin_labs import fabric_lab
from vsphere_twin.launch import launch
from vsphere_twin.shell.interpreter import HungUp

from .linux_switch_lab import seed
from .sonic_lab import PATCH, WATCHDOG, add, patch, remove, replace, sonic, table


@pytest.fixture
def console():
    return sonic()


def refused(console, *operations, line=PATCH):
    return console.refused(line, json.dumps(operations), rc=2)


REFUSED = [
    (
        "dangling profile",
        [replace("/QUEUE/Ethernet0|3/wred_profile", "NOPE")],
        'of value "NOPE" points to a non-existing',
    ),
    ("user stays", [remove("/WRED_PROFILE/AZURE_LOSSLESS")], "empty tables which is not allowed in ConfigDb"),
    ("table with users", [remove("/SCHEDULER")], 'of value "scheduler.0" points to a non-existing leaf'),
    ("dscp too high", [add("/DSCP_TO_TC_MAP/AZURE/64", "3")], 'Value "64" does not satisfy the constraint "0..63"'),
    ("class too high", [replace("/TC_TO_QUEUE_MAP/AZURE/3", "77")], 'Value "77" does not satisfy'),
    ("weight", [add("/SCHEDULER/roce", {"type": "DWRR", "weight": "101"})], 'constraint "1..100"'),
    ("kind of ecn", [replace("/WRED_PROFILE/AZURE_LOSSLESS/ecn", "ecn_some")], 'Invalid value "ecn_some"'),
    (
        "thresholds",
        [replace("/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "99999999")],
        "green_min_threshold should be less than or equal to green_max_threshold",
    ),
    ("no such port", [add("/PORT_QOS_MAP/Ethernet99", {"pfc_enable": "3"})], 'of value "Ethernet99"'),
    ("list of priorities", [replace("/PORT_QOS_MAP/Ethernet0/pfc_enable", "3,9")], 'Value "3,9" does not satisfy'),
    ("a number", [replace("/PORT/Ethernet0/mtu", 9100)], "is no text"),
    ("mtu", [replace("/PORT/Ethernet0/mtu", "9300")], 'constraint "68..9216"'),
    ("unknown field", [add("/PORT_QOS_MAP/Ethernet0/pfc_enabled", "3")], "unexpected value"),
    ("no parent", [add("/PFC_WD/Ethernet0", {"action": "drop"})], "member 'PFC_WD' not found"),
    ("nothing to replace", [replace("/PORT_QOS_MAP/Ethernet0/pfc", "3")], "can't replace a non-existent object 'pfc'"),
    ("nothing to remove", [remove("/QUEUE/Ethernet0|19")], "can't remove a non-existent object 'Ethernet0|19'"),
    ("pool", [replace("/BUFFER_POOL/egress_lossy_pool/size", "1")], "Modification of BUFFER_POOL table is illegal"),
    (
        "size of a profile",
        [replace("/BUFFER_PROFILE/pg_lossless_100000_5m_profile/size", "1")],
        "buffer_profile_config_update_validator returned False",
    ),
]


@pytest.mark.parametrize("operations, complaint", [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_patch_is_taken_as_a_whole_or_refused(console, operations, complaint):
    before = console("sonic-cfggen -d --print-data")
    good = replace("/DSCP_TO_TC_MAP/AZURE/26", "3")
    for line in (PATCH, f"{PATCH} -d"):
        said = refused(console, good, *operations, line=line)
        assert said.startswith(
            "Failed to apply patch due to: Failed to apply patch on the following scopes:\n- localhost: "
        )
        assert complaint in said
    assert console("sonic-cfggen -d --print-data") == before


PERMITTED = [
    replace("/BUFFER_PROFILE/pg_lossless_100000_5m_profile/dynamic_th", "1"),
    replace("/BUFFER_PROFILE/pg_lossless_100000_5m_profile/xoff", "38912"),
    add("/BUFFER_PROFILE/own", {"pool": "ingress_lossless_pool", "dynamic_th": "1", "size": "0", "xoff": "38912"}),
    replace("/PORT_QOS_MAP/Ethernet0/pfc_enable", ""),
    replace("/PORT/Ethernet0/mtu", "9216"),
]


@pytest.mark.parametrize("operation", PERMITTED, ids=[one["path"] for one in PERMITTED])
def test_a_dry_run_judges_and_changes_nothing(console, operation):
    before = console("sonic-cfggen -d --print-data")
    said = console(f"{PATCH} -d", stdin=json.dumps([operation]))
    assert said.startswith("** DRY RUN EXECUTION **\n")
    assert said.endswith("Patch applied successfully.\n")
    assert console("sonic-cfggen -d --print-data") == before
    patch(console, operation)
    assert console("sonic-cfggen -d --print-data") != before


ENTRY = {"action": "drop", "detection_time": "600", "restoration_time": "600"}


def test_a_patch_cannot_make_the_table_of_the_watchdog(console):
    said = refused(console, add("/PFC_WD", {"Ethernet0": ENTRY}))
    assert "Modification of PFC_WD table is illegal" in said
    console("sudo config pfcwd start --action drop Ethernet0 600 --restoration-time 600")
    patch(console, add("/PFC_WD/Ethernet4", ENTRY))
    assert "Modification of PFC_WD" in refused(console, add("/PFC_WD/GLOBAL", {"POLL_INTERVAL": "200"}))
    console("sudo config pfcwd interval 200")
    patch(console, replace("/PFC_WD/GLOBAL/POLL_INTERVAL", "300"))
    assert "Operation: remove is illegal" in refused(console, remove("/PFC_WD/GLOBAL"))
    assert "greater than or equal to POLL_INTERVAL" in refused(
        console, replace("/PFC_WD/Ethernet4/detection_time", "200")
    )
    patch(console, remove("/PFC_WD"))
    assert table(console, "PFC_WD") is None


def test_the_same_watchdog_does_not_move_from_port_to_port_in_one_patch(console):
    console("sudo config pfcwd start --action drop Ethernet0 600 --restoration-time 600")
    entry = table(console, "PFC_WD")["Ethernet0"]
    moved = [remove("/PFC_WD/Ethernet0"), add("/PFC_WD/Ethernet4", entry)]
    assert "Modification of PFC_WD table is illegal" in refused(console, *moved)
    patch(console, moved[1])
    patch(console, moved[0])


ASICS = [
    ("202405", "Mellanox-SN2700", True),
    ("202405", "no-such-sku", False),
    ("20240510.24", "ACS-SN5600", True),
    ("20181031.93", "Mellanox-SN2700", False),
]


@pytest.mark.parametrize("version, model, taken", ASICS, ids=[f"{row[1]} {row[0]}" for row in ASICS])
def test_the_watchdog_is_patched_on_known_asics_of_known_branches_alone(version, model, taken):
    console = sonic(version=version, model=model)
    console(WATCHDOG)
    output = console.run(PATCH, json.dumps([replace("/PFC_WD/Ethernet0/action", "alert")]))
    assert (output.rc == 0) is taken


@pytest.mark.parametrize("version, taken", [("202405", False), ("202605", True)], ids=["202405", "202605"])
def test_profiles_of_wred_are_added_by_patches_on_new_branches_alone(version, taken):
    console = sonic(version=version)
    operation = add("/WRED_PROFILE/ROCE", {"ecn": "ecn_all"})
    output = console.run(PATCH, json.dumps([operation]))
    assert (output.rc == 0) is taken
    patch(console, replace("/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "150000"))


def test_checkpoints_bring_back_what_was(console):
    console("sudo config checkpoint before")
    before = console("sonic-cfggen -d --print-data")
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"))
    assert json.loads(console("sudo config list-checkpoints")) == ["before"]
    assert console("sudo config rollback before").endswith("Config rolled back successfully.\n")
    assert console("sonic-cfggen -d --print-data") == before
    console("sudo config delete-checkpoint before")
    assert "Checkpoint 'before' does not exist" in console.refused("sudo config rollback before")


def test_a_rollback_takes_the_watchdog_away_and_cannot_bring_it_back(console):
    console("sudo config checkpoint without", WATCHDOG, "sudo config checkpoint with", "sudo config rollback without")
    assert table(console, "PFC_WD") is None
    assert "Modification of PFC_WD table is illegal" in console.refused("sudo config rollback with")


def test_a_whole_configuration_is_replaced_with_the_same_checks(console):
    tables = json.loads(console("sonic-cfggen -d --print-data"))
    tables["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "3"
    console("cat > /tmp/whole.json", stdin=json.dumps(tables))
    console("sudo config replace /tmp/whole.json")
    assert console.treatment("Ethernet0").priorities[26] == 3
    tables["QUEUE"]["Ethernet0|3"]["scheduler"] = "nope"
    console("cat > /tmp/whole.json", stdin=json.dumps(tables))
    assert 'of value "nope"' in console.refused("sudo config replace /tmp/whole.json")


def test_commands_come_in_over_ssh_with_sudo_and_files():
    with launch(seed("sonic"), faces=("switches",)) as twin:
        device = twin.world.fabric.switches["leaf-01"].device
        operations = json.dumps([replace("/DSCP_TO_TC_MAP/AZURE/26", "3")])
        assert fabric_lab.openssh(twin, "leaf-01", "cat > /tmp/p.json", stdin=operations).returncode == 0
        done = fabric_lab.openssh(twin, "leaf-01", "sudo config apply-patch /tmp/p.json && sudo config save -y")
        assert "Patch applied successfully." in done.stdout
        assert device.treatment("Ethernet0").priorities[26] == 3
        done = fabric_lab.openssh(twin, "leaf-01", "config apply-patch /tmp/p.json")
        assert (done.returncode, done.stderr) == (1, "Root privileges are required for this operation\n")


def test_a_session_that_is_cut_within_a_patch_leaves_a_state_between_that_is_valid(console):
    console("sudo config checkpoint before")
    before = console("sonic-cfggen -d --print-data")
    profile = {"ecn": "ecn_all", "wred_green_enable": "true", "green_max_threshold": "1500000"}
    operations = [replace("/QUEUE/Ethernet0|3/wred_profile", "ROCE"), add("/WRED_PROFILE/ROCE", profile)]
    console.switch.device.cut_after = 1
    with pytest.raises(HungUp):
        patch(console, *operations)
    assert (table(console, "WRED_PROFILE")["ROCE"], console.treatment("Ethernet0").marking[3].max_bytes) == (
        profile,
        2097152,
    )
    patch(console, operations[0])
    assert console.treatment("Ethernet0").marking[3].max_bytes == 1500000
    console("sudo config rollback before")
    assert console("sonic-cfggen -d --print-data") == before


CUTS = [("before it took effect", False, 1), ("after it took effect", True, 3)]


@pytest.mark.parametrize("after, priority", [row[1:] for row in CUTS], ids=[row[0] for row in CUTS])
def test_a_session_that_is_cut_at_a_patch_leaves_the_old_or_the_new(after, priority):
    with launch(seed("sonic"), faces=("switches",)) as twin:
        twin.world.switch_faults.drop_switch_command("config apply-patch", after=after)
        operations = json.dumps([replace("/DSCP_TO_TC_MAP/AZURE/26", "3")])
        assert fabric_lab.openssh(twin, "leaf-01", PATCH, stdin=operations).returncode == 255
        assert twin.world.fabric.switches["leaf-01"].device.treatment("Ethernet0").priorities[26] == priority
