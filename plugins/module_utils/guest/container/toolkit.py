# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""nvidia-ctk: the only code that uses its command line.

It does not report whether it changed a file, and it empties a file before it writes it. So it works on copies in a
private folder, in check mode too. The caller compares its output and puts it in place.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from typing import TYPE_CHECKING, Mapping, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.engines import Engine
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest

PROGRAM = "nvidia-ctk"
# A file of its own beside the engine's, and the choice of where the present configuration is read, came with this one.
DROP_IN_SINCE = (1, 18)
SPECIFICATION = "/etc/cdi/nvidia.yaml"
REFRESH_UNIT = "nvidia-cdi-refresh.service"


class Toolkit:
    """The command line tool of the NVIDIA Container Toolkit."""

    def __init__(self, label: str, commands: Commands) -> None:
        self._label = label
        self._commands = commands
        self.version = ""

    def require(self) -> None:
        """Find out which version is installed."""
        done = self._commands.run([PROGRAM, "--version"])
        if done.missing:
            raise OperatorError(
                self._label,
                "cannot use GPUs in containers",
                "The NVIDIA Container Toolkit is not installed. The program `nvidia-ctk` does not exist.",
                "Install the package nvidia-container-toolkit with the role aiready.vsphere.container_runtime.",
                "toolkit_missing",
            )
        found = re.search(r"version\s+v?(\d+\.\d+\.\d+\S*)", done.stdout)
        if not done.ok or found is None:
            raise self._refused("does not report its version", done, "toolkit_broken")
        self.version = found[1]

    @property
    def has_drop_in(self) -> bool:
        numbers = cast("re.Match[str]", re.match(r"(\d+)\.(\d+)", self.version))
        return tuple(int(number) for number in numbers.groups()) >= DROP_IN_SINCE

    def configured(
        self, engine: Engine, texts: Mapping[str, str | None], requested: RuntimeRequest
    ) -> dict[str, str | None]:
        """Return the new files of the engine: {path: text}, made from {path: text or None}."""
        # In memory if there is such a folder: a full disk must not prevent a dry run.
        place = "/run" if os.access("/run", os.W_OK) else None
        folder = tempfile.mkdtemp(prefix="aiready-nvidia-ctk-", dir=place)
        try:
            return self._configured(folder, engine, texts, requested)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _configured(
        self, folder: str, engine: Engine, texts: Mapping[str, str | None], requested: RuntimeRequest
    ) -> dict[str, str | None]:
        # containerd's imports name the folder of the drop-in, so copies name their own folder until they are in place.
        here = {path: os.path.join(folder, os.path.basename(path)) for path in texts}
        own = os.path.join(os.path.dirname(engine.drop_in), "*.toml") if engine.drop_in else ""
        copied = os.path.join(folder, "conf.d", "*.toml")
        if engine.drop_in in here:
            here[engine.drop_in] = os.path.join(folder, "conf.d", os.path.basename(engine.drop_in))
        for path, copy in here.items():
            text = texts[path]
            if text is not None and path != engine.drop_in:
                _write(copy, text.replace(own, copied) if own else text)
        argv = [
            PROGRAM,
            "runtime",
            "configure",
            f"--runtime={engine.name}",
            f"--config={here[engine.config]}",
            f"--nvidia-runtime-name={requested.runtime_name}",
            f"--nvidia-runtime-path={requested.runtime_path or engine.runtime_path}",
        ]
        if engine.drop_in in here:
            argv += [f"--drop-in-config={here[engine.drop_in]}", "--config-source=file"]
        argv += ["--set-as-default"] if requested.default_runtime else []
        argv += ["--cdi.enabled"] if requested.cdi and engine.name != "crio" else []
        done = self._commands.run(argv)
        if not done.ok:
            raise self._refused(f"rejects the configuration of {engine.name}", done, "toolkit_refused")
        made = {path: _read(copy) for path, copy in here.items()}
        return {path: text.replace(copied, own) if text is not None and own else text for path, text in made.items()}

    def devices(self) -> list[str]:
        """The names under which the interface for devices hands out GPUs."""
        done = self._commands.run([PROGRAM, "cdi", "list"])
        if not done.ok:
            raise self._refused("does not list the devices of containers", done, "cdi_unreadable")
        return [line.strip() for line in done.stdout.splitlines() if "=" in line and "/" in line.split("=")[0]]

    def generate(self) -> None:
        """Write the specification of the devices anew."""
        done = self._commands.run([PROGRAM, "cdi", "generate", f"--output={SPECIFICATION}"], limit_s=120)
        if not done.ok:
            raise self._refused("does not describe the GPUs to containers", done, "cdi_not_generated")

    def _refused(self, what: str, done: Done, code: str) -> OperatorError:
        return OperatorError(
            self._label,
            f"nvidia-ctk {what}",
            done.outcome,
            "Install a working version of the NVIDIA Container Toolkit, or correct the error that it names.",
            code,
            rc=done.rc,
        )


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
