"""Under which keys a body tells what; letters and digits alone, in lower case."""

from __future__ import annotations

__all__ = ["CODES", "DELAYS", "ENDINGS", "FIGURES", "HEADERS", "REQUESTS", "STATUSES", "TEXTS"]

STATUSES = frozenset({"status", "statuscode", "httpstatus", "httpcode", "httpstatuscode", "code"})
"""A number from 100 to 599 here is a status."""

CODES = frozenset(
    {
        *("code", "type", "status", "statuscode", "errortype", "errorcode", "name", "errorname"),
        *("reason", "providererrorcode", "kind", "exception", "errors"),
    }
)
ENDINGS = frozenset({"finishreason", "stopreason", "blockreason"})
TEXTS = frozenset(
    {
        *("message", "msg", "error", "errors", "detail", "details", "description", "raw", "body"),
        *("errormessage", "errordescription", "errormsg", "statusmsg", "statusmessage", "reason"),
        *("responsebody", "cause", "title", "failure", "fault", "faultstring", "errortext"),
    }
)
REQUESTS = frozenset(
    {
        *("input", "inputs", "messages", "prompt", "prompts", "content", "contents", "parts"),
        *("request", "requestbody", "requestbodyvalues", "originalrequest", "instructions"),
        *("system", "systeminstruction", "tools", "toolcalls", "arguments", "failedgeneration"),
        *("inputvalue", "userinput", "flaggedinput", "output", "outputs", "delta", "ctx"),
    }
)
"""What was sent or answered: no evidence, whatever it says."""

HEADERS = frozenset({"headers", "responseheaders"})
DELAYS = frozenset({"retrydelay", "retryafter", "retryafterms"})
FIGURES = {"nprompttokens": "used", "nctx": "limit"}
"""llama.cpp's, https://github.com/ggml-org/llama.cpp/pull/15780."""
