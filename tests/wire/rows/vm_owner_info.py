from __future__ import annotations

from pyVmomi import vim

from ..contract import Look
from ..lab import A100, READY, lab
from ..observe import client

MADE = {"aiready.vsphere.cloned_from": "/lab/vm/ubuntu-template"}
OURS = {**MADE, "aiready.vsphere.owner": "lab/train-01"}
# One that runs, one that is off, one of others that runs, a copy of the first one, and one in another cluster.
SEED = lab(
    {**READY, "power": "on", "extra_config": {**READY["extra_config"], **OURS}},
    {**READY, "extra_config": {**READY["extra_config"], **MADE}},
    {**READY, "power": "on"},
    {"extra_config": OURS},
    {"name": "ubuntu-template", "template": True},
    gpus=(A100, A100),
)
SEED["datacenters"][0]["clusters"].append({"name": "other", "hosts": [{"name": "esx-09"}]})
SEED["datacenters"][0]["vms"].append({"name": "far-01", "host": "esx-09", "extra_config": MADE})
KIND = vim.vm.device.VirtualPCIPassthrough
SOURCE, OWNER = "aiready.vsphere.cloned_from", "aiready.vsphere.owner"


def reports(twin):
    """The VMs of the first cluster as a plain client sees them, but for copies, whose marks name another VM."""
    found = {}
    with client(twin) as service:
        content = service.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
        for vm in view.view:
            extra = {one.key: one.value for one in vm.config.extraConfig}
            owner, slash, name = extra.get(OWNER, "").partition("/")
            if vm.config.template or vm.runtime.host.parent.name != "gpu":
                continue
            running = vm.runtime.powerState == "poweredOn"
            found[f"/lab/vm/{vm.name}"] = (
                vm._GetMoId(),
                vm.runtime.host.name,
                {"poweredOn": "on", "poweredOff": "off"}[vm.runtime.powerState],
                extra.get(SOURCE) if name in ("", vm.name) else None,
                owner if slash and name == vm.name else None,
                [one.backing.vgpu for one in vm.config.hardware.device if running and isinstance(one, KIND)],
            )
    return found


def reported(answer):
    """The same from the answer."""
    keys = ("moid", "host", "power", "source", "owner", "gpus")
    return {vm["path"]: tuple(vm[key] for key in keys) for vm in answer["vms"]}


LOOKS = [Look("vm_owner_info", "VMs of a cluster", {"cluster": "gpu"}, reports, reported, seed=SEED)]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = SEED
