from __future__ import annotations

WHY_NO_ROWS = "Its request is what earlier runs wrote into a journal. tests/e2e/test_restore.py has what it must do."
