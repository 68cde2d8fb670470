"""SONiC switches of the twin: the stock maps and the chain behind them, commands, what is shown."""

from __future__ import annotations

import json

import pytest

from .linux_switch_lab import Console, neighbours
from .sonic_lab import WATCHDOG, add, patch, remove, replace, sonic, table


@pytest.fixture
def console():
    return sonic()


def test_the_stock_maps_show_pfc_and_leave_roce_lossy(console):
    assert "Ethernet0    3,4\n" in console("show pfc priority")
    found = console.treatment("Ethernet0")
    assert (found.pauses_sent, found.no_drop, found.priorities[26]) == ({3, 4}, {3, 4}, 1)
    assert found.priorities[26] not in found.no_drop
    assert (found.priorities[3], found.priorities[48], found.queues[6], found.strict) == (3, 6, 6, frozenset())


def test_the_chain_is_complete_once_the_map_is(console):
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"), replace("/PORT_QOS_MAP/Ethernet0/pfc_enable", "3"))
    found = console.treatment("Ethernet0")
    chain = found.priorities[26], found.queues[3], found.groups[3]
    assert (chain, found.pauses_sent, found.pauses_heeded) == ((3, 3, 3), {3}, {3})
    # Buffers of what was enabled before stay until somebody takes them.
    assert 4 in found.no_drop
    assert table(console, "BUFFER_PG")["Ethernet0|3"] == {"profile": "pg_lossless_100000_5m_profile"}


BROKEN = [
    ("no headroom", [remove("/BUFFER_PG/Ethernet0|3-4")], "no_drop", 3),
    ("a lossy group", [replace("/BUFFER_PG/Ethernet0|3-4/profile", "ingress_lossy_profile")], "pauses_sent", 3),
    ("another group", [replace("/TC_TO_PRIORITY_GROUP_MAP/AZURE/3", "0")], "pauses_sent", 3),
    ("another queue", [replace("/TC_TO_QUEUE_MAP/AZURE/3", "2")], "pauses_heeded", 3),
    ("no map of pauses", [remove("/PORT_QOS_MAP/Ethernet0/pfc_to_queue_map")], "pauses_heeded", 3),
    ("pfc off", [replace("/PORT_QOS_MAP/Ethernet0/pfc_enable", "")], "pauses_sent", 3),
    ("no dscp map", [remove("/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map")], "pauses_sent", 3),
]


@pytest.mark.parametrize("operations, what, priority", [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_link_that_is_missing_in_the_chain_breaks_it(console, operations, what, priority):
    assert priority in getattr(console.treatment("Ethernet0"), what)
    patch(console, *operations)
    assert priority not in getattr(console.treatment("Ethernet0"), what)
    # A map is shared by all ports.
    of_one_port = "Ethernet0" in operations[0]["path"]
    assert (priority in getattr(console.treatment("Ethernet4"), what)) is of_one_port


def test_profiles_of_queues_mark_or_drop(console):
    profile = {"ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": "150000"}
    profile |= {"green_max_threshold": "1500000", "green_drop_probability": "100"}
    patch(
        console,
        add("/WRED_PROFILE/ROCE", profile),
        replace("/QUEUE/Ethernet0|3/wred_profile", "ROCE"),
        add("/WRED_PROFILE/DROPS", {**profile, "ecn": "ecn_none"}),
        replace("/QUEUE/Ethernet0|4/wred_profile", "DROPS"),
        add("/SCHEDULER/cnp", {"type": "STRICT"}),
        replace("/QUEUE/Ethernet0|6/scheduler", "cnp"),
    )
    found = console.treatment("Ethernet0")
    assert (found.marking[3].min_bytes, found.marking[3].max_bytes, found.marking[3].mark) == (150000, 1500000, True)
    assert found.marking[4].mark is False
    assert found.strict == {6}
    assert "green_min_threshold     150000" in console("show ecn")


def test_only_root_configures(console):
    assert console.refused("config save -y", rc=1) == "Root privileges are required for this operation\n"
    console("sudo config save -y")


def test_a_change_is_live_at_once_and_kept_by_a_save_alone(console):
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"))
    console.switch.device.reload()
    assert console.treatment("Ethernet0").priorities[26] == 1
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"))
    assert "Running command: " in console("sudo config save -y")
    console.switch.device.reload()
    assert console.treatment("Ethernet0").priorities[26] == 3
    assert json.loads(console("cat /etc/sonic/config_db.json"))["DSCP_TO_TC_MAP"]["AZURE"]["26"] == "3"


def test_a_save_asks_without_y_and_says_when_the_disk_is_full(console):
    saved = console.switch.device.startup()
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"))
    assert console.refused("sudo config save", rc=1) == "Aborted!\n"
    console.switch.full_flash = True
    assert "No space left on device" in console.refused("sudo config save -y")
    assert "No space left on device" in console.refused("sudo config checkpoint one")
    assert console.switch.device.startup() == saved


def test_a_reload_of_the_configuration_takes_its_time(console):
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"))
    console("sudo config reload -y")
    assert console.treatment("Ethernet0").priorities[26] == 1
    output = console.run("sudo config reload -y")
    assert (output.rc, output.stdout) == (1, "System is not up. Retry later or use -f to avoid system checks\n")
    console("sudo config reload -y -f")


def test_a_reload_of_qos_rewrites_the_maps(console):
    patch(console, replace("/DSCP_TO_TC_MAP/AZURE/26", "3"), add("/DSCP_TO_TC_MAP/OWN", {"26": "3"}))
    console("sudo config qos reload --ports Ethernet0")
    assert console.treatment("Ethernet0").priorities[26] == 3
    assert "Buffer calculation model updated" in console("sudo config qos reload")
    assert set(table(console, "DSCP_TO_TC_MAP")) == {"AZURE"}
    assert (console.treatment("Ethernet0").priorities[26], console.treatment("Ethernet0").no_drop) == (1, {3, 4})
    assert table(console, "BUFFER_PG")["Ethernet0|3-4"] == {"profile": "NULL"}
    console("sudo config interface cable_length Ethernet0 40m")
    console("sudo config qos clear")
    assert console.treatment("Ethernet0").trust == "none"


def test_cables_are_set_only_where_buffers_are_computed(console):
    said = console.refused("sudo config interface cable_length Ethernet0 40m")
    assert "This command can only be supported on a system with dynamic buffer enabled" in said


def test_headroom_follows_speed_and_cable(console):
    patch(console, replace("/CABLE_LENGTH/AZURE/Ethernet0", "40m"))
    assert table(console, "BUFFER_PG")["Ethernet0|3-4"] == {"profile": "pg_lossless_100000_40m_profile"}
    assert table(console, "BUFFER_PROFILE")["pg_lossless_100000_40m_profile"]["xoff"] == "38912"


MESSAGES = [
    ("sudo config interface pfc priority Ethernet0 3 on", "Priority 3 has already been enabled on Ethernet0\n"),
    ("sudo config interface pfc priority Ethernet0 5 off", "Priority 5 is not enabled on Ethernet0\n"),
    ("sudo config interface pfc priority Ethernet1234 3 on", "Cannot find interface Ethernet1234\n"),
    ("show pfc priority Ethernet1234", "Cannot find interface Ethernet1234\n"),
    ("show pfc asymmetric Ethernet0", "\nInterface    Asymmetric\n-----------  ------------\nEthernet0    off\n\n"),
    ("sudo config pfcwd stop", ""),
]


@pytest.mark.parametrize("line, answer", MESSAGES, ids=[row[0] for row in MESSAGES])
def test_answers_are_those_of_the_tools(console, line, answer):
    assert console(line) == answer


MISUSED = [
    ("sudo config frobnicate", 'No such command "frobnicate".'),
    ("show frobnicate", 'No such command "frobnicate".'),
    ("show pfc", "Missing command."),
    ("sudo config apply-patch", "Missing argument."),
    ("sudo config apply-patch --force /tmp/x", "no such option: --force"),
    ("sudo config save -y one two", "Got unexpected extra argument (two)"),
    ("sudo config interface mtu Ethernet0 99999", "99999 is not in the valid range of 68 to 9216."),
    ("sudo config pfcwd start --action explode all 400", "invalid choice: explode. (choose from drop, forward, alert)"),
    ("sudo config pfcwd start --action drop all 50", "50 is not in the valid range of 100 to 5000."),
]


@pytest.mark.parametrize("line, complaint", MISUSED, ids=[row[0] for row in MISUSED])
def test_a_wrong_command_line_is_refused_with_its_usage(console, line, complaint):
    said = console.refused(line)
    assert said.startswith("Usage: ")
    assert complaint in said


WATCHDOGS = """\
Changed polling interval to 600ms
     PORT    ACTION    DETECTION TIME    RESTORATION TIME    HISTORY
---------  --------  ----------------  ------------------  ---------
Ethernet0      drop               600                 600    disable
Ethernet4      drop               600                 600    disable
Ethernet8      drop               600                 600    disable
"""


def test_watchdogs_are_shown_as_real_switches_show_them(console):
    console(WATCHDOG, "sudo config pfcwd interval 600")
    assert console("show pfcwd config") == WATCHDOGS
    assert console.treatment("Ethernet0").watchdog
    assert "bigger than one of the configured" in console.refused("sudo config pfcwd interval 900", rc=1)
    console("sudo config pfcwd stop Ethernet0")
    assert (console.treatment("Ethernet0").watchdog, console.treatment("Ethernet4").watchdog) == (False, True)


def test_a_watchdog_needs_its_own_list_of_priorities(console):
    console(WATCHDOG)
    patch(console, remove("/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable"))
    assert not console.treatment("Ethernet0").watchdog
    assert "Ethernet0:3" not in console("show pfcwd stats -e")
    assert "Ethernet4:3" in console("show pfcwd stats -e")


COUNTERS = """\
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0   1,200       0       0       0       0
"""


def test_counters_are_shown_as_real_switches_show_them(console):
    console.switch.ports["Ethernet0"].counters.update({"rx_pause_3": 1200, "tx_pause_3": 2})
    assert console("show pfc counters").startswith(COUNTERS)
    assert console("sonic-clear pfccounters")
    assert "1,200" not in console("show pfc counters")


DEAD = [
    ("pfc", "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", "24", "0"),
    ("trust", "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP", "oid:0x14000000000591", "oid:0x0"),
    ("mtu", "SAI_PORT_ATTR_MTU", "9122", "1522"),
]


@pytest.mark.parametrize("feature, field, alive, dead", DEAD, ids=[row[0] for row in DEAD])
def test_what_was_never_programmed_is_seen_in_the_asic_alone(console, feature, field, alive, dead):
    dump = "sonic-db-dump -n ASIC_DB -k 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:*' -y"

    def programmed():
        return {one["value"][field] for one in json.loads(console(dump)).values()}

    config = console("sonic-cfggen -d --print-data")
    assert programmed() == {alive}
    console.switch.dead_features.add(feature)
    assert programmed() == {dead}
    assert console("sonic-cfggen -d --print-data") == config


def test_the_database_answers_its_own_clients(console):
    assert console("redis-cli -n 4 HGET 'PORT_QOS_MAP|Ethernet0' pfc_enable") == "3,4\n"
    assert "pfc_enable\n3,4\n" in console("redis-cli -n 4 HGETALL 'PORT_QOS_MAP|Ethernet0'")
    assert console("sonic-db-cli CONFIG_DB HGETALL 'PFC_WD|Ethernet0'") == "{}\n"
    assert console("sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku") == "Mellanox-SN2700\n"
    # It takes what no model would.
    console("sonic-db-cli CONFIG_DB HSET 'QUEUE|Ethernet0|3' wred_profile NOPE")
    assert table(console, "QUEUE")["Ethernet0|3"]["wred_profile"] == "NOPE"
    assert json.loads(console("show runningconfiguration all"))["QUEUE"]["Ethernet0|3"]["wred_profile"] == "NOPE"


def test_thresholds_are_set_by_their_own_command_within_limits(console):
    console("sudo config ecn -profile AZURE_LOSSLESS -gmin 150000 -gmax 1500000 -gdrop 100")
    assert console.treatment("Ethernet0").marking[3].max_bytes == 1500000
    output = console.run("sudo config ecn -profile AZURE_LOSSLESS -gmin 5000000")
    assert (output.rc, "gmin should be smaller than gmax" in output.stdout) == (1, True)


def test_neighbours_are_listed():
    console = Console(neighbours("sonic", "Ethernet4", "Ethernet0"))
    assert console("show lldp table").splitlines()[3].split()[:4] == ["Ethernet4", "spine-01", "Ethernet0", "BR"]
    assert "SysName:      spine-01\n" in console("show lldp neighbors Ethernet4")
    assert console("show interfaces status Ethernet4").splitlines()[2].split()[7] == "up"


def test_a_seed_says_what_an_operator_left_behind():
    tables = {"DSCP_TO_TC_MAP": {"AZURE": {"26": "3"}}}
    console = sonic(config=[json.dumps(tables), "config interface pfc priority Ethernet0 4 off"])
    console.switch.device.reload()
    assert (console.treatment("Ethernet0").priorities[26], console.treatment("Ethernet0").pauses_sent) == (3, {3})
    with pytest.raises(Exception, match="No such command"):
        sonic(config=["config frobnicate"])
