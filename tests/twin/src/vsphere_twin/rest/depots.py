"""Depots: import of offline bundles, and their content."""

from __future__ import annotations

import urllib.error
import urllib.request

from vsphere_twin.model import depot as formats

from .api import Begun, route
from .errors import RestError
from .stamps import stamp

OFFLINE = "/api/esx/settings/depots/offline"
CONTENT = "/api/esx/settings/depot-content"
SERVICE = "com.vmware.esx.settings.depots.offline"
PATIENCE_S = 10
SCHEMES = ("http", "https")


@route("GET", OFFLINE)
def offline_depots(request):
    """Return all imported depots."""
    return {one.id: _info(one) for one in request.world.depots.offline.values()}


@route("GET", f"{OFFLINE}/{{depot}}")
def offline_depot(request, depot):
    """Return one depot."""
    return _info(_depot(request, depot))


@route("GET", f"{OFFLINE}/{{depot}}/content")
def offline_content(request, depot):
    """The components of a depot."""
    one = _depot(request, depot)
    listed = {entry["name"]: entry for entry in _summaries(one.bundle.components)}
    bundle = {"file_name": "metadata.zip", "independent_components": listed}
    vendor = one.bundle.vibs[0].vendor if one.bundle.vibs else ""
    return {"metadata_bundles": {vendor: [bundle]}}


@route("POST", OFFLINE, vmw_task="true")
def import_depot(request):
    """Fetch and read a depot. A pushed file would need an upload service, which is not modelled."""
    body, world = request.body, request.world
    if body.get("source_type") != "PULL":
        raise RestError("INVALID_ARGUMENT", "Only the source type PULL is served here.")
    location = body.get("location")
    if not location:
        raise RestError("INVALID_ARGUMENT", "The field location is needed with the source type PULL.")
    if any(one.location == location for one in world.depots.offline.values()):
        raise RestError("ALREADY_EXISTS", f"There is already an offline depot with the location {location}.")
    operation = world.operations.begin(world, SERVICE, "create$task", request.user)
    operation.advance(10, f"Importing {location}.")
    request.outside(lambda: _fetched(location), lambda data: _keep(world, operation, body, data, request.user))
    return Begun(operation.id)


@route("DELETE", f"{OFFLINE}/{{depot}}", vmw_task="true")
def delete_depot(request, depot):
    """Delete a depot; not while an image needs a component of it alone."""
    one, world = _depot(request, depot), request.world
    for cluster in world.of_kind("ClusterComputeResource"):
        needed = [each for each in one.bundle.components if cluster.image.components.get(each.name) == each.version]
        if needed:
            raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"Cluster {cluster.name} uses {needed[0].id}.")
    operation = world.operations.begin(world, SERVICE, "delete$task", request.user)
    world.depots.offline.pop(one.id)
    operation.succeed()
    return Begun(operation.id)


@route("GET", f"{CONTENT}/components")
def components(request):
    """Every component that an image may have."""
    wanted = request.query.get("names")
    return [one for one in _summaries(request.world.depots.components()) if wanted in (None, one["name"])]


@route("GET", f"{CONTENT}/components/{{name}}/versions/{{version}}")
def component(request, name, version):
    """Return one version of a component."""
    found = request.world.depots.component(name, version)
    if found is None:
        raise RestError("NOT_FOUND", f"Component {name}({version}) is not found in the depot.")
    return {
        "display_name": found.display_name,
        "display_version": found.display_version,
        "vendor": found.vendor,
        "version": found.version,
    }


def _fetched(location):
    """Return the bytes at a URL, or the failure."""
    if location.partition("://")[0] not in SCHEMES:
        return RestError("RESOURCE_INACCESSIBLE", f"The location {location} is not supported.")
    try:
        with urllib.request.urlopen(location, timeout=PATIENCE_S) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError, ValueError) as problem:
        return RestError("RESOURCE_INACCESSIBLE", f"A depot is inaccessible or has invalid contents: {problem}.")


def _keep(world, operation, spec, data, owner):
    if isinstance(data, RestError):
        operation.fail(data.body)
        return
    try:
        bundle = formats.read(data)
    except formats.BadDepot as problem:
        text = f"A depot is inaccessible or has invalid contents: {problem}."
        operation.fail(RestError("INVALID_ARGUMENT", text).body)
        return
    made = world.depots.add(spec.get("description", ""), spec["location"], bundle, owner)
    operation.succeed(made.id)


def _depot(request, name):
    found = request.world.depots.offline.get(name)
    if found is None:
        raise RestError("NOT_FOUND", f"There is no depot with the identifier {name}.")
    return found


def _info(one):
    return {
        "create_time": stamp(one.created),
        "description": one.description,
        "source_type": "PULL",
        "location": one.location,
        "owner": one.owner,
    }


def _summaries(found):
    listed = {}
    for one in found:
        entry = listed.setdefault(
            one.name, {"name": one.name, "display_name": one.display_name, "vendor": one.vendor, "versions": []}
        )
        version = {"version": one.version, "display_version": one.display_version}
        if version not in entry["versions"]:
            entry["versions"].append(version)
    return list(listed.values())
