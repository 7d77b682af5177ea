"""Fitting histories into budgets."""
