"""The model: what exists in the data centre and the rules that it obeys. It knows no protocol."""
