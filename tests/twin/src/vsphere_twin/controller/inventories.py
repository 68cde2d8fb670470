"""Inventory sources and groups: what AWX 24.6.1 accepts, compared with its API. [sure]"""

from __future__ import annotations

from .refused import Refused

CLOUDS = {
    *("ec2", "gce", "azure_rm", "vmware", "satellite6", "openstack", "rhv", "controller", "insights", "terraform"),
    "openshift_virtualization",
}
# Clouds that also accept a login of their own.
_NO_CREDENTIAL = {"ec2", "openshift_virtualization"}
_OF_SCM = ("source_path", "source_project")


def check_source(values, row_of):
    """Reject an inventory source that AWX rejects. row_of(table, ID) finds the objects that it names."""
    source = values["source"]
    if source is None:
        raise Refused.of("source", '"" is not a valid choice.')
    if source == "constructed":
        raise Refused.of("error", "constructed not a valid source for inventory")
    if source == "scm":
        _check_project(values, row_of)
    else:
        for name in _OF_SCM:
            if values[name]:
                raise Refused.of("detail", f"Cannot set {name} if not SCM type.")
    _check_credential(source, values["credential"], row_of)


def _check_project(values, row_of):
    if values["source_project"] is None:
        raise Refused.of("source_project", "Project required for scm type sources.")
    project = row_of("projects", values["source_project"])
    if not project["scm_type"]:
        raise Refused.of("source_project", "Cannot use manual project for SCM-based inventory.")
    if values["scm_branch"] and not project["allow_override"]:
        raise Refused.of("scm_branch", "Project does not allow overriding branch.")


def _check_credential(source, number, row_of):
    if number is None:
        if source in CLOUDS - _NO_CREDENTIAL:
            raise Refused.of("credential", "Credential is required for a cloud source.")
        return
    kind = row_of("credential_types", row_of("credentials", number)["credential_type"])
    if source == "scm":
        if kind["kind"] in ("insights", "vault"):
            words = "Credentials of type insights and vault are disallowed for scm inventory sources."
            raise Refused.of("credential", words)
    elif kind["namespace"] != source.replace("ec2", "aws"):
        words = f"Cloud-based inventory sources (such as {source}) require credentials for the matching cloud service."
        raise Refused.of("credential", words)


def check_child(group, child, children_of):
    """Reject a group below itself. children_of(ID) are the groups below a group."""
    waiting, seen = [child], set()
    while waiting:
        one = waiting.pop()
        if one == group:
            raise Refused(400, {"error": "Cyclical Group association."})
        if one not in seen:
            seen.add(one)
            waiting.extend(children_of(one))
