from __future__ import annotations

WHY_NO_ROWS = (
    "A report is made from files on the controller, no data centre is asked. "
    "tests/unit/plugins/plugin_utils/report/test_report_noun.py holds it to check mode, diff and a second run."
)
