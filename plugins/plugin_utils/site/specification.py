# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a site is: its keys by the specification, defaults filled in, rows of VMs written out."""

from __future__ import annotations

import copy
import difflib
import functools
import json
import pathlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.validation import check_type_bool, check_type_int
from ansible.module_utils.common.yaml import yaml_load
from ansible.module_utils.errors import UnsupportedError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import trust

if TYPE_CHECKING:
    from collections.abc import Iterator

# The role's specification is the only place where keys, types and defaults of a site stand.
SPECIFICATION = pathlib.Path(__file__).parents[3] / "roles" / "site" / "meta" / "argument_specs.yml"

HINTS = {
    "site.vcenter.password": "Put it as site_vcenter_password into a vault, or as VMWARE_PASSWORD into the "
    "environment.",
    "site.hosts.bmc.password": "Put it as site_bmc_password into a vault, or as AIREADY_BMC_PASSWORD into the "
    "environment.",
    "site.hosts.bmc.address": "It is the variable bmc_address of each host.",
    "site.fabric.password": "Put it as site_switch_password into a vault.",
    "site.fabric.host_ports": "They are the variable switch_host_ports of each switch, or site.fabric.cables.",
    "site.fabric.fabric_ports": "They are the variable switch_fabric_ports of each switch, or site.fabric.cables.",
    "site.machine.userdata": "Put it as site_userdata into a vault.",
    "site.guests.licence.token": "Put it as site_licence_token into a vault, or name its file in "
    "site.guests.licence.token_file.",
    "site.guests.token": "Put it as site_licence_token into a vault.",
    "site.guests.password": "Put it as ansible_become_password or ansible_password of the group training_guests into "
    "a vault, or use a key.",
    "site.runtime.proxy.password": "Put it as site_proxy_password into a vault.",
    "site.runtime.registries[].password": "Put it into site_registry_passwords, by the address of the registry, in a "
    "vault.",
    "site.runtime.passwords": "Put them as site_registry_passwords into a vault.",
    "site.machine.cloud_init": "Metadata is site.machine.metadata, user data is site_userdata in a vault.",
}
# From this on, two names differ by one letter or two.
ALIKE = 0.8
# A hint names no more parts of a site than these.
MOST_PARTS = 4
_INDEX = re.compile(r"\[\d+\]")
# Programs take numbers in any form.
_WORDS_OF_COMMANDS = re.compile(r"site\.(training|validation)\..+\]$")
# Stages inside the guests: to leave one out and to leave it empty is the same, and switches it off.
STAGES = ("guests", "runtime", "training", "validation")
CHECKS = {"int": check_type_int, "bool": check_type_bool}
WORDS = {
    "dict": "a dictionary",
    "list": "a list",
    "int": "a whole number",
    "bool": "true or false",
    "str": "a text",
    "path": "the path of a file",
}
WAYS_OUT = {
    "dict": "Write its keys below it, each as 'key: value'.",
    "list": "Begin each entry with a dash.",
    "int": "Correct it.",
    "bool": "Correct it.",
    "str": "Write one value.",
    "path": "Write one value.",
}


@functools.lru_cache(maxsize=None)
def specification() -> dict[str, Any]:
    """The options of the role site."""
    # Each task of each host reads it anew, in a process of its own: yaml_load uses libyaml where it is there.
    return yaml_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]


@functools.lru_cache(maxsize=None)
def _types() -> str:
    """The specification without its texts, as JSON: Ansible's validator changes what it gets, and copies are slow."""

    def without_texts(option: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in option.items() if key != "description"}
        if "options" in kept:
            kept["options"] = {name: without_texts(one) for name, one in kept["options"].items()}
        return kept

    return json.dumps(without_texts(specification()["site"]))


def validate(site: Any) -> tuple[Any, list[str]]:
    """The site with types converted and defaults filled in, and what the specification refuses."""
    unknown = [text for text, meant in unknown_keys(site)]
    spec, site = specification()["site"], _without_idle_stages(_plain(site))
    shape = list(_shape("site", site, spec))
    if shape:
        # A required key at another level is reported as such already.
        meant = {f"{key}:" for text, key in unknown_keys(site) if key}
        return None, unknown + [one for one in shape if one.partition(" ")[0] not in meant]
    answer = ArgumentSpecValidator({"site": json.loads(_types())}).validate({"site": site})
    wrong = [f"site: {error}." for error in answer.errors if not isinstance(error, UnsupportedError)]
    return answer.validated_parameters["site"], unknown + wrong


def unknown_keys(site: Any) -> list[tuple[str, str | None]]:
    """[(what is wrong, the key that may be meant or None)] of the keys that the specification does not have."""
    return list(_unknown("site", site, specification()["site"]["options"]))


def defaults_of(name: str) -> Any:
    """A part of a site of which nothing is said, with its defaults; what it requires is None."""
    spec = copy.deepcopy(specification()["site"]["options"][name])
    for option in spec["options"].values():
        option.pop("required", None)
    answer = ArgumentSpecValidator({name: dict(spec, default={})}).validate({})
    return answer.validated_parameters[name]


def _without_idle_stages(site: Any) -> Any:
    if not isinstance(site, Mapping):
        return site
    return {key: value for key, value in site.items() if key not in STAGES or value != {}}


def _plain(value: Any) -> Any:
    """Without what Ansible wraps around variables, since its validator copies that and all it hangs on to."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _shape(key: str, given: Any, option: Mapping[str, Any]) -> Iterator[str]:
    """Every value of another type than the specification says, by its own key; Ansible's texts name no entry."""
    if given is None and not option.get("required"):
        return
    elements = option.get("elements") if option["type"] == "list" else None
    # A text with commas is a list of texts to Ansible.
    if elements == "str" and isinstance(given, str):
        return
    if not _fits(given, option["type"]) or not _is_as_written(key, given, option):
        yield f"{key}: {WORDS[option['type']]} was wanted. {_instead(given, option['type'])}"
    elif option.get("choices") and option["type"] != "list" and str(given) not in option["choices"]:
        yield f"{key}: {_shown(given)} is none of {', '.join(option['choices'])}. {_way_out_of_a_choice(given)}"
    elif option["type"] == "dict":
        for name, part in option.get("options", {}).items():
            if name in given:
                yield from _shape(f"{key}.{name}", given[name], part)
            elif part.get("required"):
                yield f"{key}.{name}: it is missing. Write it below {key}, with the same indentation as its other keys."
    elif elements:
        entry = dict(option, type=elements, elements=None, required=True)
        for index, value in enumerate(given):
            yield from _shape(f"{key}[{index}]", value, entry)


def _fits(given: Any, kind: str) -> bool:
    """Whether Ansible takes a value for a type as it is meant; it would take a list for a text too."""
    if kind == "dict":
        return isinstance(given, Mapping)
    if kind == "list":
        return isinstance(given, list)
    if isinstance(given, (Mapping, list)) or given is None:
        return False
    if kind in CHECKS:
        try:
            CHECKS[kind](given)
        except (TypeError, ValueError):
            return False
    return True


def _is_as_written(key: str, given: object, option: Mapping[str, Any]) -> bool:
    """Whether a text is what stands in the file: YAML makes True of yes and 180.0 of the PCI address 0000:03:00.0."""
    if option["type"] not in ("str", "path") or option.get("choices"):
        return True
    numbers = (int, float) if _WORDS_OF_COMMANDS.match(key) else (int,)
    return isinstance(given, (str, *numbers)) and not isinstance(given, bool)


def _instead(given: object, kind: str) -> str:
    """What there is in place of a value, and how to write it."""
    if kind in ("str", "path") and given is not None and not isinstance(given, (Mapping, list)):
        return f"YAML reads it as {_shown(given)}. Put the text into quotes."
    return f"There is {_shown(given)}. {WAYS_OUT[kind]}"


def _shown(given: object) -> str:
    if given is None:
        return "no value"
    if isinstance(given, (Mapping, list)):
        return f"a {'dictionary' if isinstance(given, Mapping) else 'list'}"
    return str(given) or "an empty text"


def _way_out_of_a_choice(given: object) -> str:
    if isinstance(given, bool):
        return "YAML makes true and false of yes, no, on and off. Write one of the words instead."
    return "Write one of them."


def _unknown(key: str, given: Any, options: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Every key that the specification does not have, with what may be meant."""
    if not isinstance(given, Mapping):
        return
    for name, value in given.items():
        if name not in options:
            hint, meant = _meant(key, name, options, given)
            text = f"{key}.{name}: there is no such key. {HINTS.get(_INDEX.sub('[]', f'{key}.{name}'), hint)}"
            yield text, meant
        elif "options" not in options[name]:
            continue
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                yield from _unknown(f"{key}.{name}[{index}]", entry, options[name]["options"])
        else:
            yield from _unknown(f"{key}.{name}", value, options[name]["options"])


def _meant(key: str, name: str, options: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[str, str | None]:
    """What may be meant by a key that the specification does not have here: a hint, and the key or None."""
    # The same name at another level is an indentation mistake, which is more likely than several wrong letters.
    parts = _parts_with().get(name, ())
    if len(parts) == 1 and not difflib.get_close_matches(str(name), options, n=1, cutoff=ALIKE):
        return f"Did you mean {parts[0]}.{name}? Indent it below {parts[0]}.", f"{parts[0]}.{name}"
    near = difflib.get_close_matches(str(name), options, n=1)
    if near:
        return f"Did you mean {near[0]}?", f"{key}.{near[0]}" if near[0] not in given else None
    if 1 < len(parts) <= MOST_PARTS:
        return f"Did you mean {' or '.join(f'{part}.{name}' for part in parts)}? Indent it below its part.", None
    return f"Known are {', '.join(options)}.", None


@functools.lru_cache(maxsize=None)
def _parts_with() -> dict[str, list[str]]:
    """{name of a key: the parts of a site that have it}."""
    found: dict[str, list[str]] = {}

    def walk(key: str, option: Mapping[str, Any]) -> None:
        inner = f"{key}[]" if option["type"] == "list" else key
        for name, part in option.get("options", {}).items():
            found.setdefault(name, []).append(inner)
            walk(f"{inner}.{name}", part)

    walk("site", specification()["site"])
    return found


def connection(site: Any, password: str = "") -> dict[str, Any]:
    """The connection options that the site sets; what it leaves out is left to the environment.

    A site that is wrong is let through: this is asked before the task that says what is wrong with it.
    """
    vcenter = site.get("vcenter") if isinstance(site, Mapping) else None
    options = {**vcenter, **trust.own(vcenter)} if isinstance(vcenter, Mapping) else {}
    options["password"] = password
    return {key: value for key, value in options.items() if value is not None and value != ""}


def identities(entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """The VMs that one entry of a validated site stands for."""
    for key in ("path", "name"):
        if entry[key]:
            return [{key: entry[key]}]
    numbers = range(entry["first"], entry["first"] + (entry["count"] or 0))
    return [{"name": f"{entry['prefix']}{number:0{entry['digits']}d}"} for number in numbers]
