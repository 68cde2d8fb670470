"""Requests of the role kubernetes by the library of kubernetes.core, in this process: much faster than its modules."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.exceptions import CoreException
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.runner import perform_action
from ansible_collections.kubernetes.core.plugins.module_utils.k8s.service import K8sService
from kubernetes.dynamic.exceptions import DynamicApiError
from urllib3.exceptions import HTTPError

APPLY = {"apply": True, "server_side_apply": {"field_manager": "aiready.vsphere", "force_conflicts": False}}
Result = dict[str, Any]


class Role:
    """Reads and applies as the tasks of the role do; results have the form of a task with a loop."""

    def __init__(self, kubeconfig: str) -> None:
        self.kubeconfig = kubeconfig

    def _service(self) -> K8sService:
        module = SimpleNamespace(params=APPLY, check_mode=False, _diff=False)
        return K8sService(get_api_client(kubeconfig=self.kubeconfig), module)

    def read(self, version: str, kind: str, **where: Any) -> Result:
        """The result of k8s_info."""
        try:
            return self._service().find(kind, version, **where)
        except CoreException as problem:
            return {"msg": str(problem)}
        except (DynamicApiError, HTTPError):
            # The module ends with a traceback.
            return {"msg": "MODULE FAILURE", "exception": traceback.format_exc()}

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> list[Result]:
        """The results of k8s with server-side apply."""
        return [{**self._applied(dict(one)), "item": one} for one in objects]

    def _applied(self, definition: dict[str, Any]) -> Result:
        try:
            return perform_action(self._service(), definition, APPLY)
        except CoreException as problem:
            return {"msg": str(problem)}
