from __future__ import annotations

from ..lab import lab

WHY_NO_ROWS = "A restart is no state: asked for twice, it happens twice. tests/wire/test_reboot.py has what it must do."

EXAMPLES_SEED = lab(name="esx-01.example.com", maintenance=True)
EXAMPLES_FACES = ("redfish",)
