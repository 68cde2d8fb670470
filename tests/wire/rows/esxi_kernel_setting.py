from __future__ import annotations

from twin_labs.host_lab import ESX, host, seed

from ..contract import Row


def settings(*names):
    """{name: (configured, runtime)} on a host of the model."""

    def observe(twin):
        known = host(twin).kernel.settings
        return {name: (known[name].configured, known[name].runtime) for name in names}

    return observe


HOST = {"host": ESX}
ROWS = [
    Row(
        module="esxi_kernel_setting",
        name="PCIe ATS, and back",
        seed=seed(),
        create={**HOST, "settings": {"atsSupport": True}},
        modify={**HOST, "settings": {"atsSupport": True, "hyperthreading": False, "maxPCIBusNumber": 127}},
        delete={**HOST, "settings": {"atsSupport": None, "hyperthreading": None, "maxPCIBusNumber": None}},
        observe=settings("atsSupport", "hyperthreading", "maxPCIBusNumber"),
        created={
            "atsSupport": ("TRUE", "FALSE"),
            "hyperthreading": ("TRUE", "TRUE"),
            "maxPCIBusNumber": ("255", "255"),
        },
        modified={
            "atsSupport": ("TRUE", "FALSE"),
            "hyperthreading": ("FALSE", "TRUE"),
            "maxPCIBusNumber": ("127", "255"),
        },
        deleted={
            "atsSupport": ("FALSE", "FALSE"),
            "hyperthreading": ("TRUE", "TRUE"),
            "maxPCIBusNumber": ("255", "255"),
        },
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
EXAMPLES_UNDO = ("Reset ATS to its default",)
