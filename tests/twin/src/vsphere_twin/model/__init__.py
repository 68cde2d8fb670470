"""The model: objects of the data centre and their rules, without any protocol."""
