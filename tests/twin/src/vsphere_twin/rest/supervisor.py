"""VM classes and namespaces of the Supervisor."""

from __future__ import annotations

from vsphere_twin.model.supervisor import Namespace, Refusal

from .api import route
from .errors import RestError

CLASSES = "/api/vcenter/namespace-management/virtual-machine-classes"
CLASS = f"{CLASSES}/{{vm_class}}"
NAMESPACES = "/api/vcenter/namespaces/instances"
NAMESPACE = f"{NAMESPACES}/{{namespace}}"
MANAGE, CONFIGURE = "VirtualMachineClasses.Manage", "Namespaces.Configure"
_OF_NAMESPACE = {"cluster", "namespace", "description", "storage_specs", "vm_service_spec"}


@route("GET", CLASSES)
def classes(request):
    """All VM classes."""
    return [_info(request, name) for name in sorted(_workloads(request).classes)]


@route("POST", CLASSES)
def create_class(request):
    """A new VM class."""
    _require(request, MANAGE)
    _tried(_workloads(request).create, request.world.release, request.body)


@route("GET", CLASS)
def class_of(request, vm_class):
    """One VM class."""
    _tried(_workloads(request).find, vm_class)
    return _info(request, vm_class)


@route("PATCH", CLASS)
def update_class(request, vm_class):
    """Change the fields that the request has."""
    _require(request, MANAGE)
    _tried(_workloads(request).update, request.world.release, vm_class, request.body)


@route("DELETE", CLASS)
def delete_class(request, vm_class):
    """Remove a VM class."""
    _require(request, MANAGE)
    _tried(_workloads(request).delete, vm_class)


@route("POST", NAMESPACES)
def create_namespace(request):
    """A new namespace on a cluster."""
    _require(request, CONFIGURE)
    body, workloads = request.body, _workloads(request)
    _refuse_unknown(body, _OF_NAMESPACE)
    name, cluster = body.get("namespace"), request.world.get(body.get("cluster", ""))
    if cluster is None or cluster.kind != "ClusterComputeResource":
        raise RestError("NOT_FOUND", f"There is no cluster {body.get('cluster')}.")
    if name in workloads.namespaces:
        raise RestError("ALREADY_EXISTS", f"The namespace {name} exists.")
    made = Namespace(name, cluster.moid, body.get("description", ""))
    _furnish(workloads, made, body)
    workloads.namespaces[name] = made


@route("GET", NAMESPACE)
def namespace_of(request, namespace):
    """One namespace."""
    found = _namespace(request, namespace)
    return {
        "cluster": found.cluster,
        "config_status": "RUNNING",
        "description": found.description,
        "messages": [],
        "stats": {"cpu_used": 0, "memory_used": 0, "storage_used": 0},
        "storage_specs": found.storage,
        "vm_service_spec": {"content_libraries": found.libraries, "vm_classes": found.classes},
    }


@route("PATCH", NAMESPACE)
def update_namespace(request, namespace):
    """Change the parts that the request has."""
    _require(request, CONFIGURE)
    _refuse_unknown(request.body, _OF_NAMESPACE - {"cluster", "namespace"})
    _furnish(_workloads(request), _namespace(request, namespace), request.body)


def _furnish(workloads, namespace, body):
    namespace.description = body.get("description", namespace.description)
    namespace.storage = body.get("storage_specs", namespace.storage)
    spec = body.get("vm_service_spec")
    if spec is not None:
        _refuse_unknown(spec, {"content_libraries", "vm_classes"})
        # A list that is not given counts as an empty one: the API calls both optional for their age alone.
        namespace.libraries = sorted(spec.get("content_libraries") or ())
        _tried(workloads.offer, namespace, spec.get("vm_classes") or ())


def _workloads(request):
    if not request.world.release.at_least(7, 0, 2):
        raise RestError("OPERATION_NOT_FOUND", "There is no such operation in this release.", status=404)
    return request.world.workloads


def _namespace(request, name):
    found = _workloads(request).namespaces.get(name)
    if found is None:
        raise RestError("NOT_FOUND", f"The namespace {name} could not be found.")
    return found


def _require(request, privilege):
    if not request.world.permissions.may(request.user, privilege, request.world.root_folder):
        raise RestError("UNAUTHORIZED", f"Permission to perform this operation was denied: {privilege}.")


def _refuse_unknown(body, known):
    unknown = set(body) - known
    if unknown:
        raise RestError("INVALID_ARGUMENT", f"There is no field {min(unknown)} in this structure.")


def _info(request, name):
    workloads = _workloads(request)
    vms = [moid for moid, known in workloads.vms.items() if known == name and request.world.get(moid) is not None]
    made = {"id": name, "config_status": "READY", "messages": [], "vms": vms, "namespaces": workloads.users(name)}
    return made | workloads.classes[name]


def _tried(do, *arguments):
    try:
        return do(*arguments)
    except Refusal as problem:
        raise RestError(problem.kind, problem.text) from problem
