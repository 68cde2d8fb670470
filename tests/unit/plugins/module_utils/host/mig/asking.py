"""A question to mig_partition without Ansible: the noun on a device, through the runner."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.partition import MigPartitions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Left


class Module:
    """What the runner needs of a module; keeps the answer."""

    _diff = True

    def __init__(self, check_mode):
        self.check_mode = check_mode
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)

    def exit_json(self, **answer):
        raise Left(answer)

    def fail_json(self, msg, **answer):
        raise Left(dict(answer, msg=msg, failed=True))


def ask(device, check=False, **params):
    """The result of the one GPU, and the warnings."""
    params = {
        "gpus": ["all"], "mode": "enabled", "layout": None, "in_use": "refuse", "vsphere": "mode_only", "model": None,
        "lost_gpus": "refuse", **params,
    }  # fmt: skip
    module = Module(check)
    noun = MigPartitions(params, device, module.warn, params["model"] if check else None)
    with pytest.raises(Left) as left:
        runner.run(module, noun, noun.items(), "gpus")
    (result,) = left.value.answer["gpus"]
    return result, module.warnings
