"""Mutation tests: changes one place of the product at random and checks that a test fails."""
