from __future__ import annotations

WHY_NO_ROWS = "Its cluster is no vCenter. tests/unit/plugins/action/test_helm_release.py has what it must do."
