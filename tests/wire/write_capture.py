"""Write the capture of the twin in tests/data/captures: `python -m wire.write_capture`, with tests on PYTHONPATH."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEST = ROOT / "tests" / "data" / "captures" / "twin-small.zip"
SEED = "small"


def main():
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    importlib.import_module("conftest")
    from vsphere_twin.launch import launch
    from wire import drive, drive_switch

    with tempfile.TemporaryDirectory() as folder, launch(SEED, faces=("switches",)) as twin:
        made = os.path.join(folder, DEST.name)
        connection = drive.connection(twin, os.path.join(folder, "sessions"))
        drive.run("aiready.vsphere.site_capture_info", {**connection, "dest": made})
        for name in twin.world.fabric.switches:
            drive_switch.run(twin, name, "switch_capture_info", {"dest": made})
        # The table of pseudonyms stays behind.
        DEST.write_bytes(Path(made).read_bytes())


if __name__ == "__main__":
    main()
