from __future__ import annotations

from twin_labs.host_lab import ESX, esx, host, seed

from ..contract import Row

CORE = {"host": ESX, "module": "nmlx5_core"}
LOSSLESS = {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": 2}


def module(name):
    """The option string of a module of the model, and whether the next boot loads it."""

    def observe(twin):
        found = host(twin).kernel.modules[name]
        return found.options, found.enabled

    return observe


ROWS = [
    Row(
        module="esxi_module_options",
        name="virtual functions beside flow control",
        seed=seed(),
        create={**CORE, "options": LOSSLESS},
        modify={**CORE, "options": {"max_vfs": [4, 4], "pfctx": 8}},
        delete={**CORE, "state": "replaced"},
        observe=module("nmlx5_core"),
        created=("pfctx=0x08 pfcrx=0x08 trust_state=2", True),
        modified=("pfctx=0x08 pfcrx=0x08 trust_state=2 max_vfs=4,4", True),
        deleted=("", True),
    ),
    Row(
        module="esxi_module_options",
        name="options that run already, and one of them away",
        seed=seed(esx(module_options={"nmlx5_core": "pfctx=8 pfcrx=8 max_vfs=2,2"})),
        create={**CORE, "options": {"trust_state": "2"}},
        modify={**CORE, "options": {"max_vfs": None, "pfctx": "0x10"}},
        delete={**CORE, "options": {"pfctx": 8, "pfcrx": 8, "max_vfs": "2,2"}, "state": "replaced"},
        observe=module("nmlx5_core"),
        created=("pfctx=8 pfcrx=8 max_vfs=2,2 trust_state=2", True),
        modified=("pfctx=0x10 pfcrx=8 trust_state=2", True),
        deleted=("pfctx=8 pfcrx=8 max_vfs=2,2", True),
    ),
    Row(
        module="esxi_module_options",
        name="a module that is not to be loaded any more",
        seed=seed(),
        create={"host": ESX, "module": "nmlx5_rdma", "options": {"dscp_force": 26}, "enabled": False},
        modify={"host": ESX, "module": "nmlx5_rdma", "enabled": True},
        delete={"host": ESX, "module": "nmlx5_rdma", "options": {"dscp_force": None}},
        observe=module("nmlx5_rdma"),
        created=("dscp_force=26", False),
        modified=("dscp_force=26", True),
        deleted=("", True),
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = seed()
EXAMPLES_UNDO = ("Remove all options of the network driver",)
