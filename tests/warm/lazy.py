"""Ansible wraps all variables for every template again, a tenth of a playbook; here the same ones are wrapped once."""

from __future__ import annotations

import operator
from typing import Any

# Of fewer variables, wrapping costs no more than the comparison.
MANY = 32
# A task templates with the variables of the task, of the host and of a role.
KEPT = 4


class Value(tuple):
    """A variable that is not rendered yet, as Ansible's own wrapper: only its type and its value matter."""

    __slots__ = ()
    value = property(operator.itemgetter(0))


def install() -> None:
    """Change how this process and its forks hand variables to templates."""
    from ansible._internal._templating import _lazy_containers
    from ansible._internal._templating._utils import TemplateContext

    lazy: Any = _lazy_containers
    recent: list[dict[str, Value]] = []

    def wrapped(values: dict) -> Any:
        if len(values) < MANY:
            return _pairs(values)
        for number, one in enumerate(recent):
            if _same(one, values):
                if number:
                    recent.insert(0, recent.pop(number))
                return one
        recent.insert(0, dict(_pairs(values)))
        del recent[KEPT:]
        return recent[0]

    def source(values: Any, lazy_options: Any) -> Any:
        return lazy._LazyValueSource(
            source=values, templar=TemplateContext.current().templar, lazy_options=lazy_options
        )

    def of_dict(values: dict, lazy_options: Any) -> Any:
        return source(wrapped(values), lazy_options)

    def of_list(values: list, lazy_options: Any) -> Any:
        return source(map(Value, zip(values, strict=False)), lazy_options)

    lazy._LazyValue = Value
    lazy._AnsibleLazyTemplateDict._lazy_values = staticmethod(of_dict)
    lazy._AnsibleLazyTemplateList._lazy_values = staticmethod(of_list)


def _pairs(values: dict) -> Any:
    return zip(values, map(Value, zip(values.values(), strict=False)), strict=False)


def _same(one: dict[str, Value], values: dict) -> bool:
    """The very same objects under the same names: the wrappers hold them, so that no other has the identity of one."""
    if len(one) != len(values) or list(one) != list(values):
        return False
    return all(map(operator.is_, map(operator.itemgetter(0), one.values()), values.values()))
