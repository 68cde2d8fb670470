"""Mutation tests: change one place of the product at random and check that a test fails."""
