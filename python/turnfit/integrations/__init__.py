"""Agent frameworks: every model call fitted, the saved history whole.

One module each, behind an extra of the same name:

=================================== ================= ==================================
module                              extra             what it gives
=================================== ================= ==================================
``turnfit.integrations.langchain``     ``langchain``     agent middleware, a token counter
``turnfit.integrations.pydantic_ai``   ``pydantic-ai``   a capability
``turnfit.integrations.openai_agents`` ``openai-agents`` an input filter
``turnfit.integrations.litellm``       ``litellm``       callbacks for proxy and SDK
=================================== ================= ==================================

`Fitter` is what they share: another framework's own stands on it and on a
`turnfit.Format`. The page docs/integrations.md shows all of them.
"""

from __future__ import annotations

from turnfit.integrations.fitter import Fitter

__all__ = ["Fitter"]
