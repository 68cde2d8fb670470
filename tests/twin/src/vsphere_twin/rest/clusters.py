"""Clusters: lists for clients, and vSphere Lifecycle Manager's image of each."""

from __future__ import annotations

from vsphere_twin.model import image as images
from vsphere_twin.model import remediation

from . import shapes
from .api import Begun, Created, route
from .errors import RestError

CLUSTER = "/api/esx/settings/clusters/{cluster}"
SOFTWARE = f"{CLUSTER}/software"
DRAFT = f"{SOFTWARE}/drafts/{{draft}}"
SERVICE = "com.vmware.esx.settings.clusters.software"
SHORT_S = 0.05  # how long a scan or a commit takes


@route("GET", f"{CLUSTER}/enablement/software")
def enablement(request, cluster):
    """Return whether one image manages the cluster."""
    return {"enabled": _cluster(request, cluster).image.managed}


@route("GET", SOFTWARE)
def software(request, cluster):
    """The cluster's image."""
    return shapes.software(request.world, _managed(request, cluster).image)


@route("GET", f"{SOFTWARE}/components")
def components(request, cluster):
    """The components of the image beyond its base."""
    return shapes.components(request.world, _managed(request, cluster).image.components)


@route("GET", f"{SOFTWARE}/drafts")
def drafts(request, cluster):
    """Return all drafts, with their owners."""
    return {draft.id: shapes.metadata(draft) for draft in _managed(request, cluster).image.drafts.values()}


@route("POST", f"{SOFTWARE}/drafts")
def create_draft(request, cluster):
    """A draft of the user's own."""
    return Created(_tried(images.create_draft, _managed(request, cluster).image, request.user).id)


@route("GET", DRAFT)
def draft_of(request, cluster, draft):
    """A draft and its content."""
    one = _draft(request, cluster, draft)[1]
    return {"metadata": shapes.metadata(one), "software": shapes.software(request.world, one)}


@route("DELETE", DRAFT)
def delete_draft(request, cluster, draft):
    """Throw a draft away."""
    found, one = _draft(request, cluster, draft)
    found.image.drafts.pop(one.id)


@route("GET", f"{DRAFT}/software/components")
def draft_components(request, cluster, draft):
    """The components of a draft."""
    return shapes.components(request.world, _draft(request, cluster, draft)[1].components)


@route("PATCH", f"{DRAFT}/software/components")
def change_draft(request, cluster, draft):
    """Set and delete components of a draft."""
    _found, one = _draft(request, cluster, draft)
    unknown = set(request.body) - {"components_to_set", "components_to_delete"}
    if unknown:
        raise RestError("INVALID_ARGUMENT", f"There is no field {min(unknown)} in this structure.")
    to_set = request.body.get("components_to_set") or {}
    to_delete = request.body.get("components_to_delete") or []
    _tried(images.change_draft, one, to_set, to_delete)


@route("PUT", f"{DRAFT}/software/add-on")
def change_add_on(request, cluster, draft):
    """Set the add-on of a draft."""
    _found, one = _draft(request, cluster, draft)
    if set(request.body) != {"name", "version"}:
        raise RestError("INVALID_ARGUMENT", "An add-on has the fields name and version.")
    one.add_on = {**one.add_on, **request.body}
    request.world.touch()


@route("POST", DRAFT, action="commit", vmw_task="true")
def commit_draft(request, cluster, draft):
    """The draft becomes the image."""
    found, one = _draft(request, cluster, draft)
    text = request.body.get("message", "")

    def work():
        return images.commit_draft(request.world, found, one, text)

    return _begin(request, found, f"{SERVICE}.drafts", "commit$task", work, target=f"draft {one.id}")


@route("POST", SOFTWARE, action="scan", vmw_task="true")
def scan(request, cluster):
    """Compare the hosts with the image."""
    found = _managed(request, cluster)

    def work():
        images.scan(request.world, found)
        return shapes.compliance(request.world, found)

    return _begin(request, found, SERVICE, "scan$task", work)


@route("GET", f"{SOFTWARE}/compliance")
def compliance(request, cluster):
    """Return the findings of the last scan."""
    return shapes.compliance(request.world, _managed(request, cluster))


@route("POST", SOFTWARE, action="apply", vmw_task="true")
def apply(request, cluster):
    """Bring hosts to the image."""
    found = _managed(request, cluster)
    if not request.body.get("accept_eula"):
        raise RestError("ERROR", "The End User License Agreement has not been accepted.")
    wanted = request.body.get("hosts") or list(found.hosts)
    for moid in wanted:
        if moid not in found.hosts:
            raise RestError("INVALID_ARGUMENT", f"Host {moid} is not in cluster {found.name}.")
    _require_idle(request.world, found)
    world = request.world
    operation = world.operations.begin(world, SERVICE, "apply$task", request.user, found.moid)
    operation.advance(0, f"Remediating cluster {found.name}.")
    remediation.apply(world, found, operation, [found.hosts[moid] for moid in wanted])
    return Begun(operation.id)


@route("GET", f"{SOFTWARE}/reports/last-apply-result")
def last_apply_result(request, cluster):
    """Return the result of the last remediation."""
    found = _managed(request, cluster)
    if found.image.last_apply is None:
        raise RestError("NOT_FOUND", f"Cluster {found.name} was not remediated yet.")
    return shapes.apply_result(found.image.last_apply)


def _begin(request, cluster, service, name, work, target=None):
    """A short task: its work is done at its end."""
    world = request.world
    _require_idle(world, cluster)
    operation = world.operations.begin(world, service, name, request.user, target or cluster.moid)

    def end():
        try:
            operation.succeed(work())
        except images.Refused as refusal:
            operation.fail(RestError(refusal.kind, *refusal.texts).body)

    world.timeline.after(SHORT_S / 2, lambda: operation.advance(50, "Working."))
    world.timeline.after(SHORT_S, end)
    return Begun(operation.id)


def _require_idle(world, cluster):
    if world.operations.living(cluster.moid) is not None:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", "There is another operation in progress on this cluster.")


def _cluster(request, moid):
    found = request.world.get(moid)
    if found is None or found.kind != "ClusterComputeResource":
        raise RestError("NOT_FOUND", f"There is no cluster with the identifier {moid}.")
    return found


def _managed(request, moid):
    found = _cluster(request, moid)
    if not found.image.managed:
        raise RestError("INVALID_ARGUMENT", f"Cluster {moid} is not managed with a single software specification.")
    return found


def _draft(request, moid, name):
    found = _managed(request, moid)
    draft = found.image.drafts.get(name)
    if draft is None:
        raise RestError("NOT_FOUND", f"There is no draft with the identifier {name}.")
    return found, draft


def _tried(function, *arguments):
    try:
        return function(*arguments)
    except images.Refused as refusal:
        raise RestError(refusal.kind, *refusal.texts) from refusal
