from __future__ import annotations

WHY_NO_ROWS = (
    "A training is no state: asked for twice, it runs twice. tests/guests/test_training_run.py has what it must do."
)
