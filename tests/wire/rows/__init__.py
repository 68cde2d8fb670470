"""What each module supplies to the contract: rows, no code of its own."""
