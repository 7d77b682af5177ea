"""The exit codes."""

OK = 0
WRONG = 1
"""The work was done and the answer is no: over the budget, problems, a file missing."""
INPUT_ERROR = 2
"""The arguments or the input can't be used; click's code for usage errors."""
INTERRUPTED = 130
"""What a shell shows of a process that SIGINT ended."""
BROKEN_PIPE = 141
"""What a shell shows of a process that SIGPIPE ended."""
