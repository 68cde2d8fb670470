"""Have tools start forks of a warm server where they start ansible-playbook."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gates.running import tool
from warm import client


@contextlib.contextmanager
def playbooks(
    env: dict[str, str], programs: Path, added: dict[str, str] | None = None, varying: tuple[str, ...] = ()
) -> Iterator[dict[str, str]]:
    """Yield the environment of a tool whose ansible-playbook is a fork.

    added are the variables that the tool itself sets for playbooks, with these values. It changes the varying ones too,
    in a manner that makes no difference to what the server has imported.
    """
    shutil.rmtree(programs, ignore_errors=True)
    programs.mkdir(parents=True)
    env = {**env, "PATH": os.pathsep.join([str(programs), env["PATH"]])}
    with contextlib.closing(client.Server({**env, **(added or {})})) as server:
        needs = {name: value for name, value in server.imported.items() if name not in varying}
        server.stub(programs / "ansible-playbook", "playbook", tool("ansible-playbook"), needs)
        yield env
