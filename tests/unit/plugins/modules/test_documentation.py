# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each module documents exactly the arguments that it takes, its examples use them, and passwords are secret."""

from __future__ import annotations

import importlib

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from house.collection import NAME, ROOT, modules

from .described import calls, documented, specified

PLUGINS = f"ansible_collections.{NAME}.plugins"
RELATIONS = ("mutually_exclusive", "required_together", "required_one_of", "required_if", "required_by")
LOGIN = {
    **dict.fromkeys(("hostname", "username", "password"), "vcenter"),
    **dict.fromkeys(("bmc_address", "bmc_username", "bmc_password"), "bmc"),
}
# Secrets beside those of the two logins.
SECRETS = {
    "container_registry_login": ["password", "proxy"],
    "kubernetes_object": ["secret_data", "api_key"],
    "vgpu_licence": ["token"],
}
EMPTY = {"list": [], "dict": {}}
MODULES = {name: importlib.import_module(f"{PLUGINS}.modules.{name}") for name in sorted(modules())}
# Its action plugin passes the options on to the modules of the steps.
del MODULES["restore_step"]


class Given(Exception):
    """The specification that AnsibleModule got."""


def specification(name, monkeypatch):
    """The arguments of the action plugin or of the module, and their relations."""
    if (ROOT / "plugins" / "action" / f"{name}.py").is_file():
        action = importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule
        if hasattr(action, "ARGUMENTS"):
            return action.ARGUMENTS, getattr(action, "RELATIONS", {})

    def given(_module, argument_spec, **options):
        raise Given(argument_spec, {key: value for key, value in options.items() if key in RELATIONS})

    monkeypatch.setattr(AnsibleModule, "__init__", given)
    with pytest.raises(Given) as raised:
        MODULES[name].main()
    return raised.value.args


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_exactly_its_arguments(name, monkeypatch):
    assert documented(MODULES[name]) == specified(specification(name, monkeypatch)[0])


@pytest.mark.parametrize("name", MODULES)
def test_every_example_is_a_call_that_the_module_takes(name, monkeypatch):
    arguments, relations = specification(name, monkeypatch)
    login = {key: value for key, value in LOGIN.items() if key in arguments}
    for call in calls(MODULES[name], login):
        # The value of a variable is a list or a dictionary in a play.
        given = {
            key: EMPTY.get(arguments[key].get("type"), value) if str(value).startswith("{{") else value
            for key, value in call.values[0].items()
        }
        assert ArgumentSpecValidator(arguments, **relations).validate(given).error_messages == [], call.id


@pytest.mark.parametrize("name", MODULES)
def test_only_logins_and_tokens_are_secret(name, monkeypatch):
    arguments, _relations = specification(name, monkeypatch)
    secrets = ["password", "session_id", "rest_session_id"] if "hostname" in arguments else []
    secrets += ["bmc_password"] if "bmc_address" in arguments else []
    found = [option for option, value in arguments.items() if value.get("no_log")]
    assert sorted(found) == sorted([*secrets, *SECRETS.get(name, ())])
