"""Configuration Profiles of clusters: the document, its drafts and schema, compliance and remediation."""

from __future__ import annotations

import datetime
import json

from vsphere_twin.model import configuration as configurations
from vsphere_twin.model.image import Refused

from .api import Begun, Created, route
from .clusters import CLUSTER, SHORT_S, _cluster, _require_idle, _tried
from .errors import RestError, message
from .stamps import stamp

CONFIGURATION = f"{CLUSTER}/configuration"
DRAFT = f"{CONFIGURATION}/drafts/{{draft}}"
SERVICE = "com.vmware.esx.settings.clusters.configuration"
REPORTS = {"last-compliance-result": "compliance", "last-precheck-result": "precheck", "last-apply-result": "apply"}


@route("GET", f"{CLUSTER}/enablement/configuration")
def enablement(request, cluster):
    """Return whether one document manages the settings of the hosts."""
    if not request.world.release.at_least(8, 0, 1):
        raise RestError("OPERATION_NOT_FOUND", "vCenter has this operation from 8.0.1 on.", status=404)
    return {"enabled": _cluster(request, cluster).configuration.managed}


@route("GET", f"{CONFIGURATION}/schema")
def schema(request, cluster):
    """Return the JSON schema of the document, as a text."""
    text = json.dumps(configurations.schema(_managed(request, cluster).configuration))
    # The source is a field of 8.0.3.0.
    return {"schema": text, **({"source": "IMAGE_PROFILE"} if request.world.release.at_least(8, 0, 3) else {})}


@route("GET", CONFIGURATION)
def document(request, cluster):
    """Return the document as a text, with its commit and its hosts by BIOS UUID."""
    found = _managed(request, cluster)
    return {
        "metadata": {"id": found.configuration.commit},
        "host_info": {host.uuid: {"name": host.name, "is_vsan_witness": False} for host in found.hosts.values()},
        "config": json.dumps(found.configuration.document),
    }


@route("POST", CONFIGURATION, action="exportConfig")
def export(request, cluster):
    """Return the document, as a text."""
    return {"config": json.dumps(_managed(request, cluster).configuration.document)}


@route("POST", CONFIGURATION, action="importConfig", vmw_task="true")
def import_config(request, cluster):
    """The document becomes the desired one. It changes no host."""
    found = _managed(request, cluster)
    given = _tried(configurations.parsed, found.configuration, request.body.get("config"))

    def work():
        configurations.commit(found.configuration, given)
        return {"status": "SUCCESS", "commit": found.configuration.commit}

    return _begin(request, found, "import_config$task", work)


@route("POST", CONFIGURATION, action="checkCompliance", vmw_task="true")
def check_compliance(request, cluster):
    """Compare the hosts with the document."""
    found = _managed(request, cluster)
    return _begin(request, found, "check_compliance$task", lambda: _compliance(found), "compliance")


@route("POST", CONFIGURATION, action="precheck", vmw_task="true")
def precheck(request, cluster):
    """Name the hosts that a remediation changes."""
    found = _managed(request, cluster)

    def work():
        drifted = [host.moid for host in found.hosts.values() if configurations.reverts(host, found.configuration)]
        return {"status": "OK", "summary": message("The checks passed."), "failed_hosts": [], "drifted_hosts": drifted}

    return _begin(request, found, "precheck$task", work, "precheck")


@route("POST", CONFIGURATION, action="apply", vmw_task="true")
def apply(request, cluster):
    """Remediate the hosts. A setting that the document does not have goes back to its default."""
    found = _managed(request, cluster)
    return _begin(request, found, "apply$configuration", lambda: _remediated(request.world, found), "apply")


@route("GET", f"{CONFIGURATION}/reports/{{report}}")
def report(request, cluster, report):
    """Return the result of the last check or remediation."""
    found = _managed(request, cluster).configuration.reports.get(REPORTS.get(report, ""))
    if found is None:
        raise RestError("NOT_FOUND", f"There is no report {report} of this cluster.")
    return found


@route("GET", f"{CONFIGURATION}/drafts")
def drafts(request, cluster):
    """Return all drafts, with their owners."""
    return {one.id: _metadata(one) for one in _managed(request, cluster).configuration.drafts.values()}


@route("POST", f"{CONFIGURATION}/drafts")
def create_draft(request, cluster):
    """A draft of the user's own."""
    held = _managed(request, cluster).configuration
    if any(one.owner == request.user for one in held.drafts.values()):
        raise RestError("ALREADY_EXISTS", f"There is already a draft created by user {request.user}.")
    text = request.body.get("config")
    content = _tried(configurations.parsed, held, text) if text else held.document
    one = configurations.Draft(str(next(held.numbers)), request.user, content)
    held.drafts[one.id] = one
    return Created(one.id)


@route("GET", DRAFT)
def draft_of(request, cluster, draft):
    """A draft and its document."""
    one = _draft(request, cluster, draft)[1]
    return {"metadata": _metadata(one), "config": json.dumps(one.document)}


@route("POST", DRAFT, action="update")
def update_draft(request, cluster, draft):
    """Set the document of a draft."""
    found, one = _draft(request, cluster, draft)
    if request.body.get("expected_revision", one.revision) != one.revision:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", "The draft has another revision.")
    one.document = _tried(configurations.parsed, found.configuration, request.body.get("config"))
    one.revision += 1
    return str(one.revision)


@route("DELETE", DRAFT)
def delete_draft(request, cluster, draft):
    """Throw a draft away."""
    found, one = _draft(request, cluster, draft)
    found.configuration.drafts.pop(one.id)


@route("POST", DRAFT, action="apply")
def apply_draft(request, cluster, draft):
    """The draft becomes the desired document, and the hosts are remediated."""
    found, one = _draft(request, cluster, draft)
    begun = _begin(request, found, "apply$configuration", lambda: _remediated(request.world, found), "apply")
    configurations.commit(found.configuration, one.document)
    found.configuration.drafts.pop(one.id)
    return {"commit": found.configuration.commit, "apply_task": begun.task}


def _compliance(cluster):
    held, hosts = cluster.configuration, cluster.hosts.values()
    found = {host.moid: configurations.reverts(host, held) for host in hosts}
    return {
        "cluster_status": "NOT_COMPLIANT" if any(found.values()) else "COMPLIANT",
        "commit": held.commit,
        "software_commit": cluster.image.commit,
        "summary": message("The compliance was checked."),
        "host_info": {host.moid: {"name": host.name} for host in hosts},
        "hosts": {moid: _host(rows) for moid, rows in found.items()},
        "compliant_hosts": [moid for moid, rows in found.items() if not rows],
        "non_compliant_hosts": [moid for moid, rows in found.items() if rows],
        "failed_hosts": [],
        "skipped_hosts": [],
        "end_time": stamp(datetime.datetime.now(datetime.timezone.utc)),
    }


def _host(rows):
    kinds = {"sets": [], "adds": [], "deletes": []}
    for path, current, target in rows:
        kind = "adds" if current is None else "deletes" if target is None else "sets"
        values = {"current": current, "target": target}
        kinds[kind].append({"path": path, **{key: one for key, one in values.items() if one is not None}})
    status = "NON_COMPLIANT" if rows else "COMPLIANT"
    return {
        "host_status": {"status": "OK"},
        "summary": message("The host was compared."),
        "host_compliance": {"status": status, "compliance_info": kinds},
    }


def _remediated(world, cluster):
    for host in cluster.hosts.values():
        configurations.remediate(world, cluster.configuration, host)
    return {"status": "OK", "successful_hosts": list(cluster.hosts), "failed_hosts": [], "skipped_hosts": []}


def _begin(request, cluster, name, work, kind=None):
    world = request.world
    _require_idle(world, cluster)
    operation = world.operations.begin(world, SERVICE, name, request.user, cluster.moid)

    def end():
        try:
            result = work()
        except Refused as refusal:
            operation.fail(RestError(refusal.kind, *refusal.texts).body)
            return
        if kind is not None:
            cluster.configuration.reports[kind] = result
        operation.succeed(result)

    world.timeline.after(SHORT_S, end)
    return Begun(operation.id)


def _metadata(one):
    return {"id": one.id, "owner": one.owner, "state": "VALID", "revision": one.revision}


def _managed(request, moid):
    found = _cluster(request, moid)
    if not found.configuration.managed:
        raise RestError("NOT_ALLOWED_IN_CURRENT_STATE", f"Cluster {moid} is not managed with a configuration.")
    return found


def _draft(request, moid, name):
    found = _managed(request, moid)
    one = found.configuration.drafts.get(name)
    if one is None:
        raise RestError("NOT_FOUND", f"There is no draft with the identifier {name}.")
    return found, one
