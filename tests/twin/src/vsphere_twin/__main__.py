"""python -m vsphere_twin: a twin in the foreground until it is interrupted."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from .control import ControlServer
from .guests.engine import EngineProblem
from .launch import FACES, USUAL, launch
from .model.seed_file import SeedError

NO_ENGINE = 3  # how it ends where guests are wanted and no container engine can be had


def main():
    parser = argparse.ArgumentParser(prog="python -m vsphere_twin", description="A digital twin of a data centre.")
    parser.add_argument("--seed", default="small", help="a seed's name, or a file")
    parser.add_argument("--port", type=int, default=8989, help="the vCenter's HTTPS port; 0 takes any that is free")
    faces = f"beside the vCenter: {','.join(FACES)}, or none; without it {','.join(USUAL)}"
    parser.add_argument("--faces", type=_faces, default=USUAL, help=faces)
    parser.add_argument("--state-dir", type=Path, help="where endpoint.json is written once the twin answers")
    parser.add_argument("--verbose", action="store_true", help="log every request")
    options = parser.parse_args()
    logging.basicConfig(
        level=logging.DEBUG if options.verbose else logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is signal.SIG_DFL:  # under nohup it goes on
            signal.signal(number, lambda *_: stop.set())
    try:
        _run(options, stop)
    except EngineProblem as problem:
        print(problem, file=sys.stderr)
        sys.exit(NO_ENGINE)
    except SeedError as problem:
        sys.exit(str(problem))
    except OSError as problem:
        sys.exit(f"The twin cannot start with port {options.port} and state directory {options.state_dir}: {problem}.")


def _run(options, stop):
    with launch(options.seed, port=options.port, faces=options.faces) as twin:
        control = ControlServer(twin.control)
        control.start()
        own = {"control_url": control.url, "control_token": control.token, "pid": os.getpid()}
        endpoint = twin.endpoint()
        state = options.state_dir and _write(options.state_dir, {**endpoint, **own})
        print(f"The twin's vCenter answers at https://{twin.host}:{twin.port}/sdk as {twin.username}.", flush=True)
        while not stop.wait(1):
            if state and (now := twin.endpoint()) != endpoint:  # guests come and go
                endpoint = now
                _write(options.state_dir, {**endpoint, **own})
        if state:
            state.unlink(missing_ok=True)
        control.stop()


def _faces(text):
    faces = [] if text == "none" else text.split(",")
    unknown = sorted(set(faces).difference(FACES))
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no {', '.join(unknown)}; choose from {', '.join(FACES)}, or none")
    return faces


def _write(directory, endpoint):
    """Whoever finds the file finds it whole, and only its owner reads the password in it."""
    directory.mkdir(parents=True, exist_ok=True)
    draft, final = directory / "endpoint.json.new", directory / "endpoint.json"
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(endpoint, indent=2) + "\n", encoding="utf-8")
    draft.replace(final)
    return final


if __name__ == "__main__":
    sys.exit(main())
