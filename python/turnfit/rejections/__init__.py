"""The providers' refusals, told apart.

A refusal comes as an exception of some SDK, as a response, a body, or a line of a log. What
it means is told by evidence, the surest first: billing and access, codes and types, then the
words; a bare status last. What is told inside (JSON in a string, a gateway's wrapping) counts
before what stands around it; what the refusal quotes from the request doesn't count at all.
Doubt is ``unknown``.

The rules are tables (`turnfit.rejections.rules`), each row with what it was made from: a new
provider is a new row.

>>> import turnfit as tf
>>> body = {"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}}
>>> rejection = tf.classify_rejection({"status": 400, "body": body})
>>> rejection.kind, rejection.retry, rejection.limit, rejection.used
('context_overflow', 'smaller', 200000, 213462)
"""

from turnfit.rejections.classify import classify_rejection, silent_overflow
from turnfit.rejections.rejection import Kind, Rejection, Retry

__all__ = ["Kind", "Rejection", "Retry", "classify_rejection", "silent_overflow"]
