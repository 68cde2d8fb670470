from __future__ import annotations

from vsphere_twin.model import configuration

from ..contract import Row
from ..vib_lab import ready

PLACE = "/".join(configuration.SYSTEM)


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
        found = cluster(twin).configuration.document
        for name in configuration.SYSTEM:
            found = found[name]
        return {name: dict(values) for name, values in found.items()}


def kernel(**settings):
    return {"cluster": "gpu", "settings": {"kernel_settings": settings}}


ROWS = [
    Row(
        module="cluster_configuration",
        name="a kernel setting",
        seed=world(),
        create=kernel(atsSupport=True),
        modify=kernel(atsSupport=False),
        delete=kernel(atsSupport=None),
        observe=document,
        created={"kernel_settings": {"atsSupport": "TRUE"}, "module_options": {}},
        modified={"kernel_settings": {"atsSupport": "FALSE"}, "module_options": {}},
        deleted={"kernel_settings": {}, "module_options": {}},
    )
]

# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = world()
