from __future__ import annotations

WHY_NO_ROWS = "Its cluster is no vCenter. tests/wire/test_kubernetes_restore.py has what it must do."
