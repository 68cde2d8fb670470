"""Tasks of the REST services."""

from __future__ import annotations

from .api import route
from .errors import RestError, message
from .shapes import apply_result
from .stamps import stamp


@route("GET", "/api/cis/tasks/{task}")
def task_of(request, task):
    """Return the progress of a task, and its result."""
    found = request.world.operations.get(task)
    if found is None:
        raise RestError("NOT_FOUND", f"There is no task with the identifier {task}.")
    info = {
        "status": found.state,
        "service": found.service,
        "operation": found.operation,
        "user": found.user,
        "cancelable": False,
        "description": message(f"Task {found.operation}"),
        "start_time": stamp(found.started),
        "progress": {"total": 100, "completed": found.percent, "message": message(found.text)},
    }
    if found.ended is not None:
        info["end_time"] = stamp(found.ended)
    if found.result is not None:
        info["result"] = apply_result(found.result) if found.operation == "apply$task" else found.result
    if found.error is not None:
        info["error"] = found.error
    return info
