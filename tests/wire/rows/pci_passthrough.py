from __future__ import annotations

from twin_labs.host_lab import ESX, FREE, GPU, esx, host, seed

from ..contract import Row

HOST = {"host": ESX}


def given(*addresses):
    """{address: (configured, active, label)} in the model."""

    def observe(twin):
        states = host(twin).passthru
        return {one: (states[one].enabled, states[one].active, states[one].label) for one in addresses}

    return observe


def requested(twin):
    """Virtual functions of the free port: asked for, and there."""
    (port,) = [nic for nic in host(twin).nics if nic.pci == FREE]
    return port.requested_vfs or 0, port.vfs


ROWS = [
    Row(
        module="pci_passthrough",
        name="a free port, at the next boot",
        seed=seed(),
        create={**HOST, "devices": [{"id": FREE, "state": "enabled"}]},
        modify={**HOST, "devices": [{"id": FREE, "label": "roce"}]},
        delete={**HOST, "devices": [{"id": FREE, "state": "disabled", "label": ""}]},
        observe=given(FREE, GPU),
        created={FREE: (True, False, None), GPU: (False, False, None)},
        modified={FREE: (True, False, "roce"), GPU: (False, False, None)},
        deleted={FREE: (False, False, None), GPU: (False, False, None)},
    ),
    Row(
        module="pci_passthrough",
        name="port and GPU, at once",
        seed=seed(),
        create={**HOST, "apply": "now", "devices": [{"id": FREE, "state": "enabled", "label": "roce"}]},
        modify={**HOST, "apply": "now", "devices": [{"id": GPU, "state": "enabled", "take_from_vgpu": True}]},
        delete={
            **HOST,
            "apply": "now",
            "devices": [{"id": GPU, "state": "disabled"}, {"id": FREE, "state": "disabled", "label": ""}],
        },
        observe=given(FREE, GPU),
        created={FREE: (True, True, "roce"), GPU: (False, False, None)},
        modified={FREE: (True, True, "roce"), GPU: (True, True, None)},
        deleted={FREE: (False, False, None), GPU: (False, False, None)},
    ),
    Row(
        module="pci_passthrough",
        name="virtual functions, as many as the firmware has",
        seed=seed(esx(firmware={"sriov": True, "num_vfs": 8})),
        create={**HOST, "devices": [{"id": FREE, "sriov_vfs": 4}]},
        modify={**HOST, "devices": [{"id": FREE, "sriov_vfs": 8}]},
        delete={**HOST, "devices": [{"id": FREE, "sriov_vfs": 0}]},
        observe=requested,
        created=(4, 0),
        modified=(8, 0),
        deleted=(0, 0),
    ),
    Row(
        module="pci_passthrough",
        name="by device modes over REST, with a label over SOAP",
        seed=seed(release="9.1.0"),
        create={**HOST, "method": "rest", "devices": [{"id": FREE, "state": "enabled", "label": "roce"}]},
        modify={**HOST, "devices": [{"id": GPU, "state": "enabled", "take_from_vgpu": True}]},
        delete={**HOST, "devices": [{"id": GPU, "state": "disabled"}, {"id": FREE, "state": "disabled", "label": ""}]},
        observe=given(FREE, GPU),
        created={FREE: (True, False, "roce"), GPU: (False, False, None)},
        modified={FREE: (True, False, "roce"), GPU: (True, False, None)},
        deleted={FREE: (False, False, None), GPU: (False, False, None)},
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
EXAMPLES_UNDO = ("Disable passthrough of both devices",)
