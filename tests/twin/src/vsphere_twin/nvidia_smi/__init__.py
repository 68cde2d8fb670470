"""nvidia-smi as text: a function of GPUs and a driver, whoever runs it."""
