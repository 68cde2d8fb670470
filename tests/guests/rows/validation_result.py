from __future__ import annotations

WHY_NO_ROWS = (
    "It writes down what was measured, each time anew. "
    "tests/unit/plugins/module_utils/validation/probe/test_record.py has what "
    "it must do."
)
