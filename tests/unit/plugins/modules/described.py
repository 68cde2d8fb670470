# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What the documentation of a module about a host says, beside what the module does."""

from __future__ import annotations

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.host.noun import HostNoun

from unit.answers import Ended, Module

COMPARED = ("type", "elements", "choices", "default")
LOGIN = {"hostname": "vcenter.example.com", "username": "user", "password": "secret"}


def documented(module):
    """The options as the documentation with its fragments has them, in terms that a specification can be held to."""
    options = get_docstring(module.__file__, fragment_loader, collection_name="aiready.vsphere", is_module=True)[0]
    return essence(options["options"], "suboptions")


def specified(arguments):
    """The same from the specification."""
    return essence(arguments, "options")


def essence(options, nested):
    return {
        name: (
            {key: option.get(key) for key in COMPARED},
            bool(option.get("required")),
            essence(option.get(nested) or {}, nested),
        )
        for name, option in options.items()
    }


def calls(module, login=None):
    """The parameters of every call in the examples, with the defaults of its play."""
    login = LOGIN if login is None else login
    name = f"aiready.vsphere.{module.__name__.rpartition('.')[2]}"
    plays = [(entry, entry.get("tasks", [entry])) for entry in yaml.safe_load(module.EXAMPLES)]
    return [
        pytest.param({**login, **_defaults(entry), **(task[name] or {})}, id=task["name"])
        for entry, tasks in plays
        for task in tasks
        if name in task
    ]


def _defaults(entry):
    return next(iter(entry.get("module_defaults", {}).values()), {})


def checked(params, arguments, relations=None):
    """Parameters as a module gets them."""
    result = ArgumentSpecValidator(arguments, **(relations or {})).validate(params)
    assert result.error_messages == []
    return result.validated_parameters


def plan(noun, params, state, key="host", ids=None):
    """The answer of a noun in check mode about a state that is given instead of read."""
    asked = noun.request() if isinstance(noun, HostNoun) else params
    item = Item(key, asked, dict(ids or {"name": "esx-01.example.com", "moid": "host-12"}))

    def read(items):
        items[0].now = state

    noun.read = read
    with pytest.raises(Ended) as ended:
        runner.run(Module(), noun, [item], key, single=key == "host")
    answer = ended.value.args[0]
    return answer[key] if key == "host" else answer[key][0]


def assert_as_documented(module, result, key="host"):
    """A result has the keys that RETURN describes, and is the one that RETURN shows."""
    contains = yaml.safe_load(module.RETURN)[key]["contains"]
    assert set(result) == set(contains)
    assert set(result["after"]) == set(contains["after"]["contains"])
    for name in ("before", "after", "changes", "pending"):
        assert result[name] == contains[name]["sample"], name
