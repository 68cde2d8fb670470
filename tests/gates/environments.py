"""The execution environment of AWX: what ansible-builder reads from the collection, and by turns the image itself."""

from __future__ import annotations

import os

from gates.running import BUILD, PYTHON, ROOT, Gate, GateFailed, tool
from gates.tree import clean_copy
from turns import due, number_of_commit
from vsphere_twin.guests import engine

# One commit out of this number builds the image and runs the infrastructure in it, which takes minutes. On this commit,
# oldest-core runs preflight only.
EVERY, TURN = 6, 4


def needs(gate: Gate) -> None:
    """Check the requirements that ansible-builder reads from the collection, and build the image if it is its turn."""
    clean_copy("environment")
    output = gate.call([tool("ansible-builder"), "introspect", "--sanitize", str(BUILD / "environment")])
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith("#") and line not in output:
            raise GateFailed(f"ansible-builder does not see the requirement {line!r}.")
    number = number_of_commit()
    if not due(TURN, of=EVERY, number=number):
        gate.notes.append(f"without the image on commit {number}: the next one with it is {following(number)}")
    elif os.environ.get("AIREADY_ENGINE") != "required" and engine.running() is None:
        gate.notes.append("without the image: no container engine answers")
    else:
        image(gate)


def following(number: int) -> int:
    """The next commit whose turn it is."""
    return number + (TURN - number) % EVERY


def image(gate: Gate) -> None:
    """Build the execution environment, check its content, and run the infrastructure in it as AWX does."""
    gate.notes.append(gate.call([PYTHON, "-m", "rehearse.execution_environment"]).rstrip().splitlines()[-1])
