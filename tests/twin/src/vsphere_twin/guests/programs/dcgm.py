"""dcgmi in a guest: the diagnostic and the health watches of DCGM 4, as far as its documentation describes them.

The host engine answers where the package and the driver are there. Its watches last until the guest restarts.
"""

from __future__ import annotations

import json
import weakref

from vsphere_twin.model import gpu_errors

from . import drivers
from . import nvidia_view as views
from .calls import Answer, program

PACKAGE, VERSION = "datacenter-gpu-manager", "4.2.3"
_NO_ENGINE = (
    "Error: unable to establish a connection to the specified host: {}\n"
    "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.\n"
)
NO_ENGINE = _NO_ENGINE.format("localhost")
OFF = "Error: Health watches not enabled. Please enable watches. \n"
SET = "Health monitor systems set successfully.\n"
FAILED, BAD_USAGE, NO_CONNECTION = 226, 255, 255  # 226 is the exit status of a failed test in published runs
LEVELS = {"1": 1, "2": 2, "3": 3, "4": 4, "quick": 1, "short": 1, "medium": 2, "long": 3, "xlong": 4}
# (name, category, level, whether it needs the hardware of a whole GPU)
TESTS = (
    ("software", "Deployment", 1, False),
    ("memory", "Hardware", 2, True),
    ("pcie", "Integration", 2, True),
    ("diagnostic", "Hardware", 3, True),
    ("targeted_power", "Stress", 3, True),
    ("memtest", "Hardware", 4, True),
)
SYSTEMS = set("adimnptx")
_WATCHES = weakref.WeakKeyDictionary()  # VM: (which boot, the letters)


def unreachable(host):
    """What dcgmi prints without a host engine at this address."""
    return _NO_ENGINE.format(host)


@program("dcgmi")
def dcgmi(world, vm, call):
    words = call.words
    if PACKAGE not in call.guest.installed or drivers.loaded(vm, call.guest) is None:
        return Answer(NO_ENGINE, status=NO_CONNECTION)
    if words[:1] == ["diag"]:
        return _diag(vm, call, words[1:])
    if words[:1] == ["health"]:
        return _health(vm, call, words[1:])
    return Answer(stderr=f"PARSE ERROR: Couldn't find match for argument {' '.join(words[:1])}\n", status=BAD_USAGE)


def _diag(vm, call, words):
    if words[:1] not in (["-r"], ["--run"]) or words[2:] not in (["-j"], ["--json"]) or words[1] not in LEVELS:
        return Answer(stderr="PARSE ERROR: the lab knows dcgmi diag --run LEVEL --json\n", status=BAD_USAGE)
    view, level = views.of(vm, call), LEVELS[words[1]]
    tests = [_test(vm, view, *test) for test in TESTS if test[2] <= level]
    bad = any(test["test_summary"]["status"] == "Fail" for dummy, test in tests)
    text = document(tests, [card.index for card in view.cards], view.version)
    return Answer(text, status=FAILED if bad else 0)


def document(tests, indexes, version):
    """The document of a diagnostic: tests are (category, test), indexes those of the GPUs."""
    categories = {}
    for category, test in tests:
        categories.setdefault(category, []).append(test)
    found = {
        "DCGM Diagnostic": {
            "test_categories": [{"category": name, "tests": mine} for name, mine in categories.items()]
        },
        "entity_groups": [
            {
                "entities": [{"entity_id": index, "serial_num": "N/A"} for index in indexes],
                "entity_group": "GPU",
                "entity_group_id": 1,
            }
        ],
        "metadata": {"Driver Version Detected": version, "version": VERSION},
    }
    return json.dumps(found, indent=8) + "\n"


def _test(vm, view, name, category, level, hardware):
    return summed(name, category, [_result(vm, card, name, hardware) for card in view.cards])


def summed(name, category, results):
    """(category, test) with the worst result of its GPUs."""
    statuses = {one["status"] for one in results}
    worst = next((one for one in ("Fail", "Pass") if one in statuses), "Skip")
    return category, {"name": name, "results": results, "test_summary": {"status": worst}}


def _result(vm, card, name, hardware):
    made = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": card.index, "status": "Pass"}
    # A vGPU reports nothing of the hardware.
    if hardware and card.profile is not None:
        return {**made, "status": "Skip"}
    if name in ("memory", "memtest") and gpu_errors.memory(vm, card.index)["uncorrected"]:
        text = f"A DBE has occurred on GPU {card.index}."
        warning = {"error_category": 3, "error_id": 96, "error_severity": 2, "warning": text}
        return {**made, "status": "Fail", "warnings": [warning]}
    if name == "diagnostic" and gpu_errors.is_wrong(vm, card.index):
        text = f"GPU {card.index} computed results that differ from the expected ones."
        return {**made, "status": "Fail", "warnings": [{"error_id": 44, "error_severity": 2, "warning": text}]}
    return made


def _health(vm, call, words):
    watched = _WATCHES.get(vm)
    active = watched[1] if watched is not None and watched[0] == call.guest.boot else set()
    if words[:1] in (["-s"], ["--set"]) and len(words) == 2 and words[1] and set(words[1]) <= SYSTEMS:
        _WATCHES[vm] = (call.guest.boot, set(words[1]))
        return Answer(SET)
    if words == ["--clear"]:
        _WATCHES.pop(vm, None)
        return Answer("Health monitor systems disabled successfully.\n")
    if words in (["-c", "-j"], ["--check", "--json"]):
        return Answer(_report(vm, views.of(vm, call))) if active else Answer(OFF, status=BAD_USAGE)
    return Answer(stderr="PARSE ERROR: the lab knows --set, --check --json and --clear\n", status=BAD_USAGE)


def _report(vm, view):
    return report([card.index for card in view.cards if gpu_errors.memory(vm, card.index)["uncorrected"]])


def report(bad):
    """The result of the health watches, with the indexes of GPUs that have an error of their memory."""
    body = {"Overall Health": {"value": "Failure" if bad else "Healthy"}}
    if bad:
        errors = {
            str(index): {
                "children": {
                    "Errors": {
                        "children": {
                            "Memory system": {
                                "overflow": [f"A DBE has occurred on GPU {index}."],
                                "value": "Failure",
                            }
                        }
                    }
                },
                "value": "Failure",
            }
            for index in bad
        }
        body["GPU"] = {"children": errors}
    return json.dumps({"body": body, "header": ["Health Monitor Report"]}, indent=8) + "\n"
