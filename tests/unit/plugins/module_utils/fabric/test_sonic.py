from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import unknown_switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic import platform as sonic
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.sonic.platform import (
    CONFIG,
    SAVED,
    Sonic,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused

SAMPLES = Path(__file__).with_name("samples") / "sonic"
PLATFORM = Sonic()
STOCK = json.loads((SAMPLES / "qos_json_arista7260_t0_one_port.txt").read_text())
BUFFERS = json.loads((SAMPLES / "buffers_json_mellanox2700_one_port.txt").read_text())
NAME = "Ethernet40"


def box(**changes):
    """Return the tables of a stock switch with one port, where 3 and 4 are lossless."""
    tables = copy.deepcopy({**STOCK, **{name: BUFFERS[name] for name in ("BUFFER_POOL", "BUFFER_PROFILE")}})
    tables["PORT"] = {NAME: {"mtu": "9216", "speed": "100000"}}
    tables["CABLE_LENGTH"] = {"AZURE": {NAME: "40m"}}
    tables["BUFFER_PG"] = {f"{NAME}|0": {"profile": "ingress_lossy_profile"}}
    tables["BUFFER_PG"][f"{NAME}|3-4"] = {"profile": "pg_lossless_100000_40m_profile"}
    tables["DEVICE_METADATA"] = {"localhost": {"hostname": "leaf-03", "hwsku": "Arista-7260CX3-C64"}}
    for path, value in changes.items():
        table, _underscores, rest = path.partition("__")
        if value is None:
            tables.pop(table)
        elif rest:
            tables.setdefault(table, {})[rest.replace("_bar_", "|")] = value
        else:
            tables[table] = value
    return tables


def switch(tables, version="SONiC.202605"):
    return PLATFORM.parse({CONFIG: json.dumps(tables), "show version": f"SONiC Software Version: {version}\n"})


def edit(tables, config=None, exact=True, platform=PLATFORM, **place):
    there, requested = switch(tables, **place), intent(config or {})
    wanted = {NAME: compare.wanted(requested, platform)}
    if not compare.changes({NAME: compare.effect(there.ports[NAME], requested)}, wanted, exact):
        return None
    return platform.render(there, wanted, requested, exact)


def operations(found):
    return [(one["op"], one["path"], one.get("value")) for one in found.payload["patch"]]


def patched(tables, found):
    """Return the tables after a patch, by an independent RFC 6902 reading, and after the watchdog commands."""
    after = copy.deepcopy(tables)
    for one in found.payload["patch"]:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in one["path"].split("/")[1:]]
        place = after
        for part in parents:
            place = place[part]
        assert (last in place) == (one["op"] != "add"), one
        if one["op"] == "remove":
            del place[last]
        else:
            place[last] = one["value"]
    for line in found.payload["starts"]:
        words = line.split()
        if words[:3] == ["config", "pfcwd", "start"]:
            row = {"action": words[4], "detection_time": words[6], "restoration_time": words[8]}
            after.setdefault("PFC_WD", {})[words[5]] = row
    for line in found.payload["stops"]:
        for name in line.split()[3:]:
            del after["PFC_WD"][name]
    return after


def test_the_stock_map_sends_roce_into_a_class_that_drops_although_pauses_are_on():
    port = switch(box()).ports[NAME]
    assert (port.pfc, port.dscp_map[26], port.lossless) == ([3, 4], 1, [3, 4])
    assert compare.effect(port, intent({}))["roce_priority"] == 1


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"mode": "lossy"},
        {"priority": 4, "dscp": 34},
        {"priority": 5},
        {"priority": 7, "cnp_priority": 6},
        {"cnp_priority": 5, "cnp_dscp": 40},
        {"ecn": {"min_kb": 1000, "max_kb": 2000, "probability": 5}},
        {"ecn": {"state": "disabled"}},
        {"bandwidth_percent": 95},
        {"bandwidth_percent": 1},
        {"watchdog": {"state": "disabled"}},
        {"watchdog": {"detection_ms": 400, "recovery_ms": 800, "action": "forward"}},
        {"mtu": 9100, "cable_length_m": 300},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "start", [{}, {"mode": "lossy"}, {"priority": 4, "dscp": 34}], ids=["stock", "lossy", "of four"]
)
def test_a_patch_leads_to_what_was_wanted_and_a_second_one_is_empty(start, config):
    tables = box(DEVICE_METADATA={"localhost": {"buffer_model": "dynamic"}})
    if start:
        tables = patched(tables, edit(tables, start))
    first = edit(tables, config)
    after = patched(tables, first) if first else tables
    assert edit(after, config) is None
    stale = [name for name, users in switch(after).own.items() if not users]
    assert stale == []


def test_maps_of_others_are_left_and_ours_stand_beside_them():
    after = patched(box(), edit(box()))
    assert after["DSCP_TO_TC_MAP"]["AZURE"] == STOCK["DSCP_TO_TC_MAP"]["AZURE"]
    own = after["DSCP_TO_TC_MAP"]["AIREADY_ROCE_26_3_48_6"]
    assert (len(own), own["26"], own["46"]) == (64, "3", "5")
    assert after["PORT_QOS_MAP"]["global"] == {"dscp_to_tc_map": "AZURE"}
    assert after["PORT_QOS_MAP"][NAME]["pfc_enable"] == "3"


def test_what_is_referred_to_is_made_first_and_removed_last():
    paths = [path for _op, path, _value in operations(edit(box()))]
    assert paths.index("/DSCP_TO_TC_MAP/AIREADY_ROCE_26_3_48_6") < paths.index(f"/PORT_QOS_MAP/{NAME}/dscp_to_tc_map")
    tables = patched(box(), edit(box()))
    found = operations(edit(tables, {"priority": 4, "dscp": 34}))
    assert found[-1][0] == "remove"
    assert found[-1][1].startswith("/DSCP_TO_TC_MAP/")


def test_a_table_that_is_not_there_is_made_whole():
    tables = box(SCHEDULER=None, QUEUE=None)
    found = {path: value for op, path, value in operations(edit(tables)) if op == "add"}
    assert found["/QUEUE"][f"{NAME}|3"]["wred_profile"] == "AIREADY_ROCE_150_1500_100"
    assert found["/SCHEDULER"]["AIREADY_STRICT"] == {"type": "STRICT"}


def test_a_name_with_a_slash_is_written_as_pointers_have_it():
    tables = box(SCHEDULER__a={"type": "DWRR", "weight": "14"})
    tables["SCHEDULER"]["AIREADY_a/b~c"] = {"type": "WRR", "weight": "7"}
    assert ("remove", "/SCHEDULER/AIREADY_a~1b~0c", None) in operations(edit(tables))


def test_ranges_of_queues_are_taken_apart_only_where_needed():
    tables = box(QUEUE={f"{NAME}|3-4": {"scheduler": "scheduler.1"}, f"{NAME}|0-2": {"scheduler": "scheduler.0"}})
    after = patched(tables, edit(tables))["QUEUE"]
    assert after[f"{NAME}|4"] == {"scheduler": "scheduler.1"}
    assert f"{NAME}|3-4" not in after
    assert after[f"{NAME}|0-2"] == {"scheduler": "scheduler.0"}


def test_references_of_old_releases_are_read_and_written_as_they_are():
    tables = box()
    for field, table in (("dscp_to_tc_map", "DSCP_TO_TC_MAP"), ("tc_to_queue_map", "TC_TO_QUEUE_MAP")):
        tables["PORT_QOS_MAP"][NAME][field] = f"[{table}|AZURE]"
    assert switch(tables).ports[NAME].dscp_map[46] == 5
    assert ("replace", f"/PORT_QOS_MAP/{NAME}/dscp_to_tc_map", "[DSCP_TO_TC_MAP|AIREADY_ROCE_26_3_48_6]") in operations(
        edit(tables)
    )


def test_an_equal_configuration_with_names_of_somebody_needs_nothing():
    tables = box(
        DSCP_TO_TC_MAP={"roce": {**{str(dscp): "0" for dscp in range(64)}, "26": "3", "48": "6"}},
        SCHEDULER={"a": {"type": "DWRR", "weight": "40"}, "c": {"type": "STRICT"}},
        WRED_PROFILE={
            "w": {"ecn": "ecn_green", "green_min_threshold": "150000", "green_max_threshold": "1500000"},
        },
        QUEUE={
            f"{NAME}|3": {"scheduler": "a", "wred_profile": "w"},
            f"{NAME}|0": {"scheduler": "a"},
            f"{NAME}|5-6": {"scheduler": "c"},
        },
        PFC_WD={NAME: {"action": "drop", "detection_time": "400", "restoration_time": "400"}},
    )
    tables["WRED_PROFILE"]["w"]["green_drop_probability"] = "100"
    tables["PORT_QOS_MAP"][NAME].update(dscp_to_tc_map="roce", pfc_enable="3", pfcwd_sw_enable="3")
    assert edit(tables) is None


@pytest.mark.parametrize(
    "break_it, key",
    [
        (lambda tables: tables["TC_TO_QUEUE_MAP"]["AZURE"].update({"1": "3"}), "roce_queue_shared_with"),
        (lambda tables: tables["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"].update({"1": "3"}), "roce_group_shared_with"),
        (lambda tables: tables["MAP_PFC_PRIORITY_TO_QUEUE"]["AZURE"].update({"3": "4"}), "roce_pauses_own_queue"),
        (lambda tables: tables["BUFFER_PG"].pop(f"{NAME}|3-4"), "lossless"),
        (lambda tables: tables["PORT_QOS_MAP"][NAME].update(pfcwd_sw_enable="4"), "watchdog"),
    ],
    ids=["shared queue", "shared group", "pauses stop another queue", "no headroom", "watchdog of another priority"],
)
def test_every_link_of_the_chain_counts_and_is_mended(break_it, key):
    tables = box(DEVICE_METADATA={"localhost": {"buffer_model": "dynamic"}})
    tables = patched(tables, edit(tables))
    assert edit(tables) is None
    break_it(tables)
    now = compare.effect(switch(tables).ports[NAME], intent({}))
    assert compare.differing(now, compare.wanted(intent({}), PLATFORM)) == [key]
    assert edit(patched(tables, edit(tables))) is None


def test_headroom_follows_the_model_of_buffers():
    tables = box(DEVICE_METADATA={"localhost": {"buffer_model": "dynamic"}})
    assert ("add", f"/BUFFER_PG/{NAME}|5", {"profile": "NULL"}) in operations(edit(tables, {"priority": 5}))
    # Without it, the switch creates the group itself. An existing profile is used.
    assert not [path for _op, path, _v in operations(edit(box(), {"priority": 5})) if path.startswith("/BUFFER_PG")]
    made = box(BUFFER_PROFILE={"pg_lossless_100000_40m_profile": {"xoff": "38912", "size": "1"}})
    found = operations(edit(made, {"priority": 5}))
    assert ("add", f"/BUFFER_PG/{NAME}|5", {"profile": "pg_lossless_100000_40m_profile"}) in found


def test_a_merged_priority_stays_beside_ours():
    assert patched(box(), edit(box(), exact=False))["PORT_QOS_MAP"][NAME]["pfc_enable"] == "3,4"


def test_removal_goes_back_to_the_stock_and_leaves_nothing_of_ours():
    tables = patched(box(), edit(box()))
    gone = PLATFORM.render(switch(tables), {NAME: {}}, None)
    after = patched(tables, gone)
    assert "AIREADY" not in json.dumps(after)
    assert after["PORT_QOS_MAP"][NAME]["dscp_to_tc_map"] == "AZURE"
    assert after["PORT_QOS_MAP"][NAME]["pfc_enable"] == ""
    assert gone.commands[1] == f"config pfcwd stop {NAME}"


def test_older_branches_get_the_profile_for_marking_through_the_database():
    found = edit(box(), version="SONiC.20240510.24")
    assert found.commands[0].startswith(
        "sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|AIREADY_ROCE_150_1500_100' ecn ecn_all"
    )
    assert not [path for _op, path, _value in operations(found) if path.startswith("/WRED_PROFILE")]


@pytest.mark.parametrize("interval, slow", [("400", True), ("201", True), ("200", False), ("100", False)])
def test_a_slower_look_than_the_watchdog_waits_is_made_faster(interval, slow):
    tables = box(PFC_WD={"GLOBAL": {"POLL_INTERVAL": interval}})
    assert edit(tables).payload["starts"] == [
        *(["config pfcwd interval 200"] if slow else []),
        f"config pfcwd start --action drop {NAME} 200 --restoration-time 200",
    ]


WATCHED = {NAME: {"action": "alert", "detection_time": "400", "restoration_time": "600"}}


@pytest.mark.parametrize(
    "config, starts",
    [
        ({}, []),
        ({"action": "alert"}, []),
        ({"detection_ms": 400, "recovery_ms": 600}, []),
        ({"action": "drop"}, [f"config pfcwd start --action drop {NAME} 400 --restoration-time 600"]),
        ({"recovery_ms": 800}, [f"config pfcwd start --action alert {NAME} 400 --restoration-time 800"]),
    ],
    ids=str,
)
def test_a_watchdog_keeps_what_nobody_asks_for(config, starts):
    tables = patched(box(), edit(box()))
    tables["PFC_WD"] = copy.deepcopy(WATCHED)
    there, requested = switch(tables), intent({"watchdog": config})
    wanted = {NAME: compare.wanted(requested, PLATFORM)}
    assert PLATFORM.render(there, wanted, requested, True).payload["starts"] == starts


@pytest.mark.parametrize("exact, stops", [(True, [f"config pfcwd stop {NAME}"]), (False, [])])
def test_a_watchdog_that_is_not_wanted_is_stopped_unless_settings_are_merged(exact, stops):
    tables = patched(box(), edit(box()))
    found = edit(tables, {"watchdog": {"state": "disabled"}}, exact)
    assert (found.payload["stops"] if found else []) == stops


def test_removal_stops_a_watchdog_also_where_settings_are_merged():
    tables = patched(box(), edit(box()))
    gone = PLATFORM.render(switch(tables), {NAME: {}}, None, False)
    assert gone.payload["stops"] == [f"config pfcwd stop {NAME}"]


def test_a_switch_without_buffers_is_only_filled_when_that_is_allowed():
    tables = {"PORT": {NAME: {"speed": "100000"}}}
    with pytest.raises(OperatorError, match="no buffers at all"):
        edit(tables)
    allowed = Sonic({"allow": ["qos_reload"]})
    assert edit(tables, platform=allowed).commands[0] == "config qos reload --no-delay"


@pytest.mark.parametrize("same", [True, False], ids=["saved", "not saved"])
def test_whether_a_restart_would_lose_it(same):
    saved = box() if same else box(PFC_WD={NAME: {}})
    assert PLATFORM.parse({CONFIG: json.dumps(box()), SAVED: json.dumps(saved)}).unsaved is not same


def test_rendering_without_a_switch_takes_it_for_a_stock_one():
    there = unknown_switch(PLATFORM)
    there.ports = {NAME: PLATFORM.blank(there, NAME)}
    found = PLATFORM.render(there, {NAME: compare.wanted(intent({}), PLATFORM)}, intent({}))
    paths = {path for _op, path, _value in operations(found)}
    # The patch never adds a whole table, because it would replace an existing one.
    assert {"/DSCP_TO_TC_MAP/AIREADY_ROCE_26_3_48_6", f"/PORT_QOS_MAP/{NAME}/dscp_to_tc_map"} <= paths
    assert not [path for path in paths if path.count("/") == 1]


def test_the_backup_has_no_secrets():
    tables = box(SNMP_COMMUNITY={"hidden": {"TYPE": "RO"}}, TACPLUS={"global": {"passkey": "hidden"}})
    assert "hidden" not in switch(tables).config


class Session:
    name = "leaf-03"

    def __init__(self, answers=(), refuses=()):
        self.answers, self.refuses, self.lines = dict(answers), refuses, []

    def run(self, command, answers=()):
        self.lines.append(command)
        if any(part in command for part in self.refuses):
            raise Refused(command, "no")
        return next((text for start, text in self.answers.items() if command.startswith(start)), "")


def test_check_mode_tries_the_patch_and_leaves_nothing():
    session = Session()
    assert PLATFORM.validate(session, edit(box()))
    assert session.lines[-2:] == ["config apply-patch -d /run/aiready-roce.json", "rm -f /run/aiready-roce.json"]


def test_large_patches_are_written_in_pieces():
    tables = box()
    for number in range(0, 1024, 4):
        tables["PORT_QOS_MAP"][f"Ethernet{number}"] = dict(tables["PORT_QOS_MAP"][NAME])
        tables["PORT"][f"Ethernet{number}"] = {"mtu": "9100", "speed": "100000"}
    there, requested = switch(tables), intent({})
    wanted = {name: compare.wanted(requested, PLATFORM) for name in there.ports}
    session = Session()
    PLATFORM.apply(session, PLATFORM.render(there, wanted, requested))
    assert max(len(line) for line in session.lines) < 128 * 1024
    assert len([line for line in session.lines if line.startswith("printf")]) > 1


def test_nothing_is_looked_at_while_a_patch_of_ours_goes_on(monkeypatch):
    session = Session({"pgrep": "4711\n"})
    monkeypatch.setattr(sonic.time, "sleep", lambda seconds: session.answers.update(pgrep=""))
    assert (PLATFORM.tidy(session), len(session.lines)) == (None, 2)


@pytest.mark.parametrize("refuses", [(), ("config rollback",)], ids=["by the checkpoint", "by a patch"])
def test_the_way_back_undoes_the_watchdog_first(refuses):
    tables = patched(box(), edit(box()))
    session = Session({CONFIG: json.dumps(tables)}, refuses)
    PLATFORM.revert(session, edit(box()), switch(box()))
    assert session.lines[2] == f"config pfcwd stop {NAME}"
    assert session.lines[3] == "config rollback aiready-roce"
    assert any("config apply-patch" in line for line in session.lines)
    assert session.lines[-2] == "config delete-checkpoint aiready-roce"
