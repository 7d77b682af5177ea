"""A page of charts for replayed histories: one file of HTML, readable without a network.

What it shows it computes from `Replayed.as_dict()`: who was refused, what was sent and paid,
each request's size over time, and where the prefix cache broke.
"""

from turnfit.replay.page.document import page

__all__ = ["page"]
