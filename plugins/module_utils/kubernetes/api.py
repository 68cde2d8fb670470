# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Requests to the API server of a cluster, with the Python library kubernetes."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING, Any, Iterator, Mapping
from urllib.parse import quote, urlencode

from ansible_collections.aiready.vsphere.plugins.module_utils.core.controller import missing_library

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

    Object = dict[str, Any]

try:
    from kubernetes import client, config
except ImportError:
    client = config = None  # type: ignore[assignment]
    IMPORT_ERROR: str | None = traceback.format_exc()
else:
    IMPORT_ERROR = None

APPLY, JSON = "application/apply-patch+yaml", "application/json"


class Rejected(Exception):
    """An answer of the API server with an error, or no answer."""

    def __init__(self, code: int, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message") or code))
        self.code, self.status = code, status


def require(module: AnsibleModule) -> None:
    """Fail the module with installation advice when the library cannot be imported."""
    if IMPORT_ERROR is not None:
        module.fail_json(msg=missing_library("kubernetes"), exception=IMPORT_ERROR)


class Api:
    """One API server."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        try:
            # As the modules of kubernetes.core select them.
            if not (params.get("host") and params.get("api_key")):
                self._client = config.new_client_from_config(params.get("kubeconfig"), params.get("context"))
            else:
                settings = client.Configuration()
                settings.host = params["host"]
                settings.api_key = {"authorization": f"Bearer {params.get('api_key') or ''}"}
                settings.ssl_ca_cert = params.get("ca_cert")
                self._client = client.ApiClient(settings)
        except Exception as error:  # the library raises errors of many libraries for a bad file
            raise Rejected(0, {"message": f"Could not create API client: {error}", "reason": "Kubeconfig"}) from error
        self._kinds: dict[str, list[dict[str, Any]]] = {}

    def path(self, made: Mapping[str, Any]) -> str:
        """The path of an object. Raises Rejected if the cluster does not serve its kind."""
        version, kind, metadata = made["apiVersion"], made["kind"], made["metadata"]
        found = [one for one in self.kinds(version) if one["kind"] == kind and "/" not in one["name"]]
        if not found:
            raise Rejected(404, {"message": f"the server serves no {kind} of {version}", "reason": "NotFound"})
        where = f"/namespaces/{quote(metadata.get('namespace') or 'default')}" if found[0]["namespaced"] else ""
        return f"{_root(version)}{where}/{found[0]['name']}/{quote(metadata['name'])}"

    def kinds(self, version: str) -> list[dict[str, Any]]:
        """The resources that the server serves in a version of a group."""
        if version not in self._kinds:
            self._kinds[version] = list(self.request("GET", _root(version)).get("resources") or [])
        return self._kinds[version]

    def get(self, path: str) -> Object | None:
        """The object, or None."""
        try:
            return self.request("GET", path)
        except Rejected as error:
            if error.code == 404 and error.status.get("details"):
                return None
            raise

    def apply(self, path: str, made: Mapping[str, Any], manager: str, force: bool, dry: bool) -> Object:
        """Server-side apply; returns the object as it is afterwards."""
        query = {"fieldManager": manager, "force": str(bool(force)).lower()}
        return self.request("PATCH", path, made, APPLY, **query, **({"dryRun": "All"} if dry else {}))

    def delete(self, path: str, uid: str, version: str) -> None:
        """Delete the object with this uid, if nobody changed it since it was read."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": uid, "resourceVersion": version},
        }
        self.request("DELETE", path, body)

    def inside(self, namespace: str) -> Iterator[tuple[str, Object]]:
        """(kind, object) of everything in a namespace, without events and what each namespace has."""
        groups = self.request("GET", "/apis").get("groups") or []
        versions = ["v1", *(one["preferredVersion"]["groupVersion"] for one in groups)]
        for version in versions:
            if version.startswith(("events.k8s.io", "metrics.k8s.io", "packages.operators.coreos.com")):
                continue
            for one in self.kinds(version):
                if not one.get("namespaced") or "list" not in (one.get("verbs") or ()) or one["kind"] == "Event":
                    continue
                found = self.request("GET", f"{_root(version)}/namespaces/{quote(namespace)}/{one['name']}")
                for item in found.get("items") or ():
                    if (one["kind"], item["metadata"]["name"]) not in OF_EACH:
                        yield one["kind"], item

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, content: str = JSON, **query: str
    ) -> Object:
        """The answer as data."""
        settings = self._client.configuration
        headers = {"Accept": JSON, "Content-Type": content}
        for one in settings.auth_settings().values():
            if one["in"] == "header":
                headers[one["key"]] = one["value"]
        url = f"{settings.host}{path}{'?' if query else ''}{urlencode(query)}"
        try:
            answer = self._client.rest_client.pool_manager.request(
                method, url, headers=headers, body=None if body is None else json.dumps(body), timeout=TIMEOUT_S
            )
        except Exception as error:  # urllib3 has many, and the library wraps some
            raise Rejected(0, {"message": str(error), "reason": "Unreachable"}) from error
        try:
            found = json.loads(answer.data)
        except ValueError:
            found = {"message": answer.data.decode(errors="replace")[:200]}
        if answer.status >= 400:
            raise Rejected(answer.status, found if isinstance(found, dict) else {})
        return dict(found)


TIMEOUT_S = 60
# Kubernetes creates them in each namespace.
OF_EACH = (
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
    # OpenShift.
    ("ConfigMap", "openshift-service-ca.crt"),
    ("ServiceAccount", "builder"),
    ("ServiceAccount", "deployer"),
    ("RoleBinding", "system:deployers"),
    ("RoleBinding", "system:image-builders"),
    ("RoleBinding", "system:image-pullers"),
)


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"
