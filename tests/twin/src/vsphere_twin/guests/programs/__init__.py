"""Answers of a guest's programs about hardware: functions of the model and of the guest's own state."""
