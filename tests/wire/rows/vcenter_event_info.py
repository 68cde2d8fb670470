from __future__ import annotations

from pyVmomi import vim

from ..contract import Look
from ..observe import client, virtual_machine


def reports(twin):
    """A change by another client, and whom its event names."""
    with virtual_machine(twin, "train-01") as vm:
        task = vm.ReconfigVM_Task(vim.vm.ConfigSpec(annotation="changed"))
        while task.info.state not in ("success", "error"):
            pass
        with client(twin) as service:
            manager = service.RetrieveContent().eventManager
            (last,) = manager.QueryEvents(
                vim.event.EventFilterSpec(eventTypeId=["vim.event.VmReconfiguredEvent"], maxCount=1)
            )
        return {vm._GetMoId(): (last.userName, "train-01", "VmReconfiguredEvent")}


def reported(answer):
    """The newest reconfiguration of each object from the answer."""
    found = {}
    for event in answer["events"]:
        if event["event"] == "VmReconfiguredEvent":
            found.setdefault(event["moid"], (event["user"], event["name"], event["event"]))
    return found


LOOKS = [Look("vcenter_event_info", "a change by another client", {}, reports, reported)]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = "small"
