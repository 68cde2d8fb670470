"""pyVmomi lists the properties of a type once, and not for each of its objects, which is a tenth of a test."""

from __future__ import annotations

import contextlib
from typing import Any


def install() -> None:
    """Change how this process and its forks list them; without pyVmomi there is nothing to change."""
    with contextlib.suppress(ImportError):
        from pyVmomi import VmomiSupport

        kind: Any = VmomiSupport.DataObject
        listed = kind.__dict__["_GetPropertyList"].__func__
        known: dict[tuple[type, bool], list] = {}

        def properties(cls: type, includeBaseClassProps: bool = True) -> list:
            key = cls, includeBaseClassProps
            if key not in known:
                known[key] = listed(*key)
            return known[key]

        kind._GetPropertyList = classmethod(properties)
