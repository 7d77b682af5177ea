"""Hypothesis strategies: histories in a wire format as real ones go wrong, and policies for them.

histories(format)           up to about 40 messages
policies(messages, format)  budgets from nothing to more than the whole
cases(format)               both, with a system prompt and tools
"""

from strategies.cases import Case, cases, policies
from strategies.draws import NOTES
from strategies.langchain import langchain
from strategies.sessions import FORMATS, histories

__all__ = ["FORMATS", "NOTES", "Case", "cases", "histories", "langchain", "policies"]
