"""A twin in the foreground, and the file by which other processes find it."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from .capture.assumptions import text
from .control import ControlServer
from .guests.engine import EngineProblem
from .launch import launch

ASSUMPTIONS = "assumptions.json"
NO_ENGINE = 3  # exit status if guests are required and no container engine is available


def until_interrupted(seed, port, faces, state_dir):
    """Serve until a signal arrives; return the exit status."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is signal.SIG_DFL:  # under nohup it goes on
            signal.signal(number, lambda *_: stop.set())
    try:
        _run(seed, port, faces, state_dir, stop)
    except EngineProblem as problem:
        print(problem, file=sys.stderr)
        return NO_ENGINE
    except OSError as problem:
        print(f"The twin cannot start with port {port} and state directory {state_dir}: {problem}.", file=sys.stderr)
        return 1
    return 0


def _run(seed, port, faces, state_dir, stop):
    with launch(seed, port=port, faces=faces) as twin:
        control = ControlServer(twin.control)
        control.start()
        own = {"control_url": control.url, "control_token": control.token, "pid": os.getpid()}
        endpoint = twin.endpoint()
        state = state_dir and _write(state_dir, {**endpoint, **own})
        print(f"The twin's vCenter answers at https://{twin.host}:{twin.port}/sdk as {twin.username}.", flush=True)
        if state:
            print(f"How to reach everything is in {state}.", flush=True)
        _say_assumptions(twin.world, state_dir)
        while not stop.wait(1):
            if state and (now := twin.endpoint()) != endpoint:  # guests come and go
                endpoint = now
                _write(state_dir, {**endpoint, **own})
        if state:
            state.unlink(missing_ok=True)
            (state_dir / ASSUMPTIONS).unlink(missing_ok=True)
        control.stop()


def _say_assumptions(world, directory):
    """Write what the twin of a capture assumes beside the endpoint, and then print it."""
    if not world.captured:
        return
    if directory:
        whole = {"captured": world.captured, "assumptions": world.assumptions}
        (directory / ASSUMPTIONS).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    for row in world.assumptions:
        print(f"  {text(row)}", flush=True)
    print(f"Loaded the capture of {world.captured} with {len(world.assumptions)} assumptions.", flush=True)


def _write(directory, endpoint):
    """Write the complete file in one step; only its owner can read the password in it."""
    directory.mkdir(parents=True, exist_ok=True)
    draft, final = directory / "endpoint.json.new", directory / "endpoint.json"
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(endpoint, indent=2) + "\n", encoding="utf-8")
    draft.replace(final)
    return final
