from __future__ import annotations

WHY_NO_ROWS = "It records a guest before and after others change it. tests/guests/test_restore.py has what it must do."
