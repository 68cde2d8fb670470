from __future__ import annotations

import copy

from vsphere_twin.model import configuration

from ..contract import Row
from ..vib_lab import ready

KERNEL, MODULES = ("/".join(configuration.PLACES[name]) for name in ("kernel_settings", "module_options"))


def world(sections=("kernel_settings", "module_options"), **more):
    """A cluster with a configuration profile."""
    seed = ready(image="managed", **more)
    seed["datacenters"][0]["clusters"][0]["configuration"] = {"sections": list(sections)}
    return seed


def cluster(twin):
    """The cluster in the model."""
    return twin.world.of_kind("ClusterComputeResource")[0]


def document(twin):
    """The sections of the document."""
    with twin.world.lock:
        one = cluster(twin).configuration
        return copy.deepcopy({name: _at(one.document, configuration.PLACES[name]) for name in one.sections})


def _at(document, place):
    for name in place:
        document = document[name]
    return document


def kernel(**settings):
    return {"cluster": "gpu", "settings": {"kernel_settings": settings}}


def modules(**options):
    return {"cluster": "gpu", "settings": {"module_options": {"nmlx5_core": options}}}


ROWS = [
    Row(
        module="cluster_configuration",
        name="a kernel setting",
        seed=world(),
        create=kernel(atsSupport=True),
        modify=kernel(atsSupport=False),
        delete=kernel(atsSupport=None),
        observe=document,
        created={"kernel_settings": {"atsSupport": "TRUE"}, "module_options": []},
        modified={"kernel_settings": {"atsSupport": "FALSE"}, "module_options": []},
        deleted={"kernel_settings": {}, "module_options": []},
    ),
    Row(
        module="cluster_configuration",
        name="an option of a kernel module",
        seed=world(["module_options"]),
        create=modules(pfctx="0x08", dcbx=0),
        modify=modules(pfctx="0x10"),
        delete=modules(pfctx=None, dcbx=None),
        observe=document,
        created={"module_options": [{"module_name": "nmlx5_core", "options": "dcbx=0 pfctx=0x08"}]},
        modified={"module_options": [{"module_name": "nmlx5_core", "options": "dcbx=0 pfctx=0x10"}]},
        deleted={"module_options": []},
    ),
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = world()
