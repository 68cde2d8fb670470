"""nvidia-container-cli: devices that the library of the container toolkit finds in the guest."""

from __future__ import annotations

from . import drivers
from . import nvidia_view as views
from .calls import Answer, program


@program("nvidia-container-cli")
def nvidia_container_cli(world, vm, call):
    facts = call.guest.installed.get("nvidia-container-toolkit", {})
    words = [word for word in call.words if not word.startswith("-")]
    if "-V" in call.words or "--version" in call.words:
        return Answer(f"cli-version: {facts.get('version', '')}\nlib-version: {facts.get('version', '')}\n")
    if drivers.loaded(vm, call.guest) is None:
        return Answer(stderr="nvidia-container-cli: initialization error: nvml error: driver not loaded\n", status=1)
    view = views.of(vm, call)
    if words[:1] == ["info"]:
        lines = [f"{'NVRM version:':<16}{view.version}", f"{'CUDA version:':<16}{view.cuda}", ""]
        for card in view.cards:
            rows = (
                ("Device Index", card.index),
                ("Model", card.name),
                ("GPU UUID", card.uuid),
                ("Bus Location", card.bus_id),
            )
            lines += [*(f"{key + ':':<16}{value}" for key, value in rows), ""]
        return Answer("\n".join(lines) + "\n")
    if words[:1] == ["list"]:
        return Answer("".join(f"/dev/nvidia{card.index}\n" for card in view.cards) + "/dev/nvidiactl\n")
    return Answer(stderr="nvidia-container-cli: unrecognized command\n", status=1)
