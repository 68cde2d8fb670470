"""nvidia-smi as text: a function of GPUs and a driver, on hosts and guests."""
