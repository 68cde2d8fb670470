"""What a guest's programs answer where hardware is concerned: functions of the model and of the guest's own state."""
