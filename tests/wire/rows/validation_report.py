from __future__ import annotations

WHY_NO_ROWS = (
    "A report is made from files on the controller, no data centre is asked. "
    "tests/unit/plugins/plugin_utils/validation/report/test_report_noun.py has check mode, diff and a second run."
)
