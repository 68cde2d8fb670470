# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parameters of modules for one VM or a fleet: their spec, the common rules, and the requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterable, Mapping, Protocol, cast

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import fail_if_invalid
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import run
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import _pyvmomi, args, find
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.args import PLANNED, POWER
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import R, VmRequest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.args import Options

    class Closing(Protocol):
        """A noun that has something to close in the end."""

        def close(self) -> None: ...


RELATIONS = {
    "required_one_of": [args.IDENTITY_KEYS + ("vms",)],
    "mutually_exclusive": [args.IDENTITY_KEYS + ("vms",)],
}


class FleetArguments(Generic[R]):
    """Options of a module per VM, in the task or in an entry of `vms`, and options of the whole task.

    settings(options) creates the request of one VM from them.
    """

    def __init__(
        self,
        settings: Callable[[Mapping[str, Any]], R],
        per_vm: Options,
        task: Options | None = None,
        power: Options | None = None,
    ) -> None:
        self.settings = settings
        self._per_vm = per_vm
        # The options of a module that configures this part of a VM among others.
        self.part: Options = dict(per_vm, **(task or {}))
        self._task = dict(POWER if power is None else power, **(task or {}))
        entry = dict(args.VM_IDENTITY, **PLANNED)
        # An entry has no defaults: the task's value applies to omitted options.
        entry.update((name, _without_default(option)) for name, option in per_vm.items())
        self.spec = dict(
            args.CONNECTION,
            vms={
                "type": "list",
                "elements": "dict",
                "options": entry,
                "required_one_of": [args.IDENTITY_KEYS],
                "mutually_exclusive": [args.IDENTITY_KEYS],
            },
            **args.DATACENTER,
            **args.VM_IDENTITY,
            **args.TASK_WAITING,
            **PLANNED,
            **self._task,
            **per_vm,
        )

    def requests(self, params: Mapping[str, Any]) -> list[VmRequest[R]]:
        """One request per VM. An option that its entry leaves out has the value of the task."""
        entries = [params] if params["vms"] is None else params["vms"]
        return [self._request(params, entry) for entry in entries]

    def _request(self, params: Mapping[str, Any], entry: Mapping[str, Any]) -> VmRequest[R]:
        options = {key: params[key] for key in self._task}
        options.update((key, params[key] if entry[key] is None else entry[key]) for key in (*self._per_vm, *PLANNED))
        return request(
            VmRequest,
            options,
            identity={key: entry[key] for key in args.IDENTITY_KEYS},
            settings=self.settings(options),
            planned=options["planned"] or {},
        )

    def problems(self, params: Mapping[str, Any], check: Callable[[R], Iterable[str]]) -> list[str]:
        """Every problem of the parameters. check(settings) yields the problems of one VM."""
        problems = args.check_common(params)
        if params["vms"] == []:
            problems.append("vms is empty; list at least one VM.")
        timeout = params["guest_shutdown_timeout_s"]
        if timeout < 0:
            problems.append(f"guest_shutdown_timeout_s is {timeout}; it cannot be negative.")
        requests = self.requests(params)
        labels = [find.label(one.identity) for one in requests]
        problems += [
            f"VM {label} is listed {count} times; list it once."
            for label, count in Counter(labels).items()
            if count > 1
        ]
        for label, one in zip(labels, requests):
            problems += [f"VM {label}: {problem}" for problem in check(one.settings)]
        return problems


def ids(identity: Mapping[str, str | None]) -> dict[str, object]:
    """The identity that a result reports before the VM was read."""
    known = {key: identity.get(key) for key in ("name", "moid", "instance_uuid", "path")}
    return dict(known, host=None, cluster=None)


def main(
    arguments: FleetArguments[R],
    noun_of: Callable[[AnsibleModule], Closing],
    check_params: Callable[[Mapping[str, Any]], list[str]],
) -> None:
    """Run a whole module; noun_of(module) creates its noun, check_params(params) reports the problems."""
    module = AnsibleModule(argument_spec=arguments.spec, supports_check_mode=True, **RELATIONS)
    _pyvmomi.require(module)
    fail_if_invalid(module, check_params(module.params))
    noun = noun_of(module)
    try:
        run(
            module,
            cast("Noun[VmRequest[R], object]", noun),
            [Item(find.label(one.identity), one, ids(one.identity)) for one in arguments.requests(module.params)],
            "vms",
        )
    finally:
        noun.close()


def _without_default(option: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in option.items() if key not in ("default", "required")}
