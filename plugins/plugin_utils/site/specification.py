# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Keys of a site by the specification: types and defaults, and one name per VM for entries with prefix and count."""

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

# The role's specification is the only source of the keys, types and defaults of a site.
SPECIFICATION = pathlib.Path(__file__).parents[3] / "roles" / "site" / "meta" / "argument_specs.yml"

HINTS = {
    "site.vcenter.password": "Set site_vcenter_password in a vault, or VMWARE_PASSWORD in the environment.",
    "site.vcenter.saml_token": "Name its file in site.vcenter.saml_token_file, or set AIREADY_SAML_TOKEN in the "
    "environment.",
    "site.vcenter.session_id": "Set site_vcenter_session_id in a vault, or AIREADY_SESSION_ID in the environment.",
    "site.hosts.bmc.password": "Set site_bmc_password in a vault, or AIREADY_BMC_PASSWORD in the environment.",
    "site.hosts.bmc.address": "Set the variable bmc_address of each host.",
    "site.fabric.password": "Set site_switch_password in a vault.",
    "site.fabric.host_ports": "Set the variable switch_host_ports of each switch, or site.fabric.cables.",
    "site.fabric.fabric_ports": "Set the variable switch_fabric_ports of each switch, or site.fabric.cables.",
    "site.machine.userdata": "Set site_userdata in a vault.",
    "site.guests.licence.token": "Set site_licence_token in a vault, or name its file in "
    "site.guests.licence.token_file.",
    "site.guests.token": "Set site_licence_token in a vault.",
    "site.guests.password": "Set ansible_become_password or ansible_password of the group training_guests in a "
    "vault, or use a key.",
    "site.runtime.proxy.password": "Set site_proxy_password in a vault.",
    "site.runtime.registries[].password": "Set site_registry_passwords in a vault, with the address of the registry "
    "as its key.",
    "site.runtime.passwords": "Set site_registry_passwords in a vault.",
    "site.machine.cloud_init": "Set metadata in site.machine.metadata, and user data in site_userdata in a vault.",
}
# Names with this similarity differ by one or two letters.
ALIKE = 0.8
# A hint lists at most this many parts of a site.
MOST_PARTS = 4
_INDEX = re.compile(r"\[\d+\]")
# Commands accept numbers in any form.
_WORDS_OF_COMMANDS = re.compile(r"site\.(training|validation)\..+\]$")
# Stages inside the guests. A missing section and an empty one both switch the stage off.
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
    """Options of the role site."""
    # Each task of each host reads it again in its own process. yaml_load uses libyaml if available.
    return yaml_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]


@functools.lru_cache(maxsize=None)
def _types() -> str:
    """The specification as JSON, without descriptions: Ansible's validator modifies its input, and copies are slow."""

    def without_texts(option: Mapping[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in option.items() if key != "description"}
        if "options" in kept:
            kept["options"] = {name: without_texts(one) for name, one in kept["options"].items()}
        return kept

    return json.dumps(without_texts(specification()["site"]))


def validate(site: Any) -> tuple[Any, list[str]]:
    """The site with types converted and defaults filled in, and the problems that the specification finds."""
    unknown = [text for text, meant in unknown_keys(site)]
    spec, site = specification()["site"], _without_idle_stages(plain(site))
    shape = list(_shape("site", site, spec))
    if shape:
        # A required key at another level is already reported.
        meant = {f"{key}:" for text, key in unknown_keys(site) if key}
        return None, unknown + [one for one in shape if one.partition(" ")[0] not in meant]
    answer = ArgumentSpecValidator({"site": json.loads(_types())}).validate({"site": site})
    wrong = [f"site: {error}." for error in answer.errors if not isinstance(error, UnsupportedError)]
    return answer.validated_parameters["site"], unknown + wrong


def unknown_keys(site: Any) -> list[tuple[str, str | None]]:
    """[(problem, the key that may be meant or None)] of the keys that the specification does not have."""
    return list(_unknown("site", site, specification()["site"]["options"]))


def defaults_of(name: str) -> Any:
    """A part of a site with its defaults, for a site without this part; required values are None."""
    spec = copy.deepcopy(specification()["site"]["options"][name])
    for option in spec["options"].values():
        option.pop("required", None)
    answer = ArgumentSpecValidator({name: dict(spec, default={})}).validate({})
    return answer.validated_parameters[name]


def _without_idle_stages(site: Any) -> Any:
    if not isinstance(site, Mapping):
        return site
    return {key: value for key, value in site.items() if key not in STAGES or value != {}}


def plain(value: Any) -> Any:
    """The value without Ansible's wrappers for variables, because its validator would copy everything they refer to."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def _shape(key: str, given: Any, option: Mapping[str, Any]) -> Iterator[str]:
    """Every value of a wrong type, by its own key; Ansible's messages do not name the list entry."""
    if given is None and not option.get("required"):
        return
    elements = option.get("elements") if option["type"] == "list" else None
    # Ansible accepts a text with commas as a list of texts.
    if elements == "str" and isinstance(given, str):
        return
    if not _fits(given, option["type"]) or not _is_as_written(key, given, option):
        yield f"{key}: expected {WORDS[option['type']]}, but {_instead(given, option['type'])}"
    elif option.get("choices") and option["type"] != "list" and str(given) not in option["choices"]:
        yield f"{key}: {_shown(given)} is not one of {', '.join(option['choices'])}. {_way_out_of_a_choice(given)}"
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
    """Whether a value has a type as the user means it; Ansible would accept a list as a text too."""
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
    """Whether a text is unchanged from the file: YAML reads yes as True, and the PCI address 0000:03:00.0 as 180.0."""
    if option["type"] not in ("str", "path") or option.get("choices"):
        return True
    numbers = (int, float) if _WORDS_OF_COMMANDS.match(key) else (int,)
    return isinstance(given, (str, *numbers)) and not isinstance(given, bool)


def _instead(given: object, kind: str) -> str:
    """The value that was found, and the fix."""
    if kind in ("str", "path") and given is not None and not isinstance(given, (Mapping, list)):
        return f"YAML reads it as {_shown(given)}. Put the text into quotes."
    return f"there is {_shown(given)}. {WAYS_OUT[kind]}"


def _shown(given: object) -> str:
    if given is None:
        return "no value"
    if isinstance(given, (Mapping, list)):
        return f"a {'dictionary' if isinstance(given, Mapping) else 'list'}"
    return str(given) or "an empty text"


def _way_out_of_a_choice(given: object) -> str:
    if isinstance(given, bool):
        return "YAML reads yes, no, on and off as true and false. Use one of the words instead."
    return "Use one of them."


def _unknown(key: str, given: Any, options: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Every key that the specification does not have, with the key that may be meant."""
    if not isinstance(given, Mapping):
        return
    for name, value in given.items():
        if name not in options:
            hint, meant = _meant(key, name, options, given)
            text = f"{key}.{name}: the key is unknown. {HINTS.get(_INDEX.sub('[]', f'{key}.{name}'), hint)}"
            yield text, meant
        elif "options" not in options[name]:
            continue
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                yield from _unknown(f"{key}.{name}[{index}]", entry, options[name]["options"])
        else:
            yield from _unknown(f"{key}.{name}", value, options[name]["options"])


def _meant(key: str, name: str, options: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[str, str | None]:
    """A hint for a key that the specification does not have here, and the key that may be meant or None."""
    # The same name at another level is an indentation error, which is more likely than several wrong letters.
    parts = _parts_with().get(name, ())
    if len(parts) == 1 and not difflib.get_close_matches(str(name), options, n=1, cutoff=ALIKE):
        return f"Did you mean {parts[0]}.{name}? Indent it below {parts[0]}.", f"{parts[0]}.{name}"
    near = difflib.get_close_matches(str(name), options, n=1)
    if near:
        return f"Did you mean {near[0]}?", f"{key}.{near[0]}" if near[0] not in given else None
    if 1 < len(parts) <= MOST_PARTS:
        return f"Did you mean {' or '.join(f'{part}.{name}' for part in parts)}? Indent it below its part.", None
    return f"Known keys: {', '.join(options)}.", None


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


def connection(site: Any, password: str = "", session_id: str = "", rest_session_id: str = "") -> dict[str, Any]:
    """Connection options that the site sets; the environment sets the others.

    Accepts an invalid site, because this is called before the task that reports its problems.
    """
    vcenter = site.get("vcenter") if isinstance(site, Mapping) else None
    options = {**vcenter, **trust.own(vcenter)} if isinstance(vcenter, Mapping) else {}
    options.update(password=password, session_id=session_id, rest_session_id=rest_session_id)
    return {key: value for key, value in options.items() if value is not None and value != ""}


def identities(entry: Mapping[str, Any]) -> list[dict[str, str]]:
    """The VMs of one entry of a validated site."""
    for key in ("path", "name"):
        if entry[key]:
            return [{key: entry[key]}]
    numbers = range(entry["first"], entry["first"] + (entry["count"] or 0))
    return [{"name": f"{entry['prefix']}{number:0{entry['digits']}d}"} for number in numbers]
