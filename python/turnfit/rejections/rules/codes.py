"""Codes, types, names of exceptions and statuses, and what they mean.

Sources: https://platform.openai.com/docs/guides/error-codes,
https://platform.claude.com/docs/en/api/errors,
https://ai.google.dev/gemini-api/docs/troubleshooting,
https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html,
https://docs.mistral.ai, https://docs.cohere.com/reference/errors,
https://console.groq.com/docs/errors, https://openrouter.ai/docs/api-reference/errors,
https://help.aliyun.com/zh/model-studio/error-code, https://docs.bigmodel.cn/cn/api/api-code,
https://platform.moonshot.ai/docs/api/chat#error, https://platform.minimax.io/docs/api-reference/errorcode.
"""

from __future__ import annotations

from turnfit.rejections.rejection import Kind

__all__ = [
    "FINISHES",
    "PREFIXES",
    "STATUSES",
    "STRONG",
    "SURE_STATUSES",
    "TELLING_STATUSES",
    "WEAK",
]


def _table(rows: dict[Kind, str]) -> dict[str, Kind]:
    return {code: kind for kind, codes in rows.items() for code in codes.split()}


STRONG = _table(
    {
        "billing": (
            "insufficient_quota billing_error billing_hard_limit_reached billing_not_active"
            " exceeded_current_quota_error insufficient_balance insufficient_credits"
            " insufficient_funds payment_required account_deactivated arrearage"
            " accountoverdueerror budget_exceeded budgetexceedederror"
            " credit_balance_too_low usage_not_included overdue_payment"
            " insufficientbalance insufficientquota freetieronly allocationquota.freetieronly"
        ),
        "auth": (
            "authentication_error invalid_api_key permission_error permission_denied"
            " unauthenticated unauthorized accessdeniedexception unrecognizedclientexception"
            " expiredtokenexception invalidsignatureexception missingauthenticationtokenexception"
            " incompletesignatureexception api_key_invalid invalid_authentication_error"
            " authenticationerror permissiondeniederror missing_api_key invalidapikey"
            " invalid_auth nocredentialserror access_denied accessdenied"
            " access_terminated_error api_key_service_blocked invalid_organization"
            " authentication_failed unauthorizederror forbiddenerror"
            " partialcredentialserror mismatched_organization ip_not_authorized"
        ),
        "context_overflow": (
            "context_length_exceeded context_window_exceeded model_context_window_exceeded"
            " exceed_context_size_error model_max_prompt_tokens_exceeded"
            " max_context_length_exceeded maximum_context_length_exceeded prompt_too_long"
            " input_too_long context_overflow content_length_exceeds_threshold"
            " contextlengthexceeded context_length_error context_size_exceeded"
            " max_prompt_tokens_exceeded context_too_long contextwindowoverflowexception"
            " context_limit_exceeded input_tokens_exceeded prompttoolong contextoverflow"
            " error_context_length tokens_limit_reached tokens_too_long 1261"
        ),
        "rate_limit": (
            "rate_limit_exceeded rate_limit_error rate_limited rate_limit too_many_requests"
            " resource_exhausted resourceexhausted throttlingexception throttled throttling"
            " limitrequests ratelimitexceeded ratelimiterror ratelimitreached"
            " rate_limit_reached_error service_tier_capacity_exceeded token_quota_exceeded"
            " usage_limit_reached usage_limit_exceeded toomanyrequestsexception"
            " toomanyrequestserror request_limit_exceeded requestlimitexceeded"
            " servicequotaexceededexception tokens requests tokens_per_minute"
            " requests_per_minute request_quota_exceeded concurrency_limit_exceeded"
            " too_many_tokens_error ratelimit rate_limit_reached quota_exceeded quotaexceeded"
            " capacity_exceeded flex_tier_capacity_exceeded limit_burst_rate limitburstrate"
        ),
        "content_policy": (
            "content_filter content_policy_violation responsibleaipolicyviolation"
            " datainspectionfailed data_inspection_failed content_filter_error"
            " moderation_blocked contentfilter sensitive_content content_filtered"
            " guardrail_intervened safety_violation content_moderation cyber_policy_violation"
            " content_blocked moderation_error inappropriate_content"
            " inputtextsensitivecontentdetected outputtextsensitivecontentdetected"
            " sensitivecontentdetected content_policy_error prompt_blocked"
        ),
        "payload_too_large": (
            "payload_too_large request_entity_too_large requesttoolarge"
            " entitytoolarge content_too_large requestentitytoolarge body_too_large"
            " function_payload_too_large max_tokens_per_request"
        ),
    }
)
"""What decides before any words do."""

PREFIXES: tuple[tuple[str, Kind], ...] = (("throttling.", "rate_limit"),)
"""Families of codes."""

WEAK = _table(
    {
        "context_overflow": "contextwindowexceedederror",
        "payload_too_large": "request_too_large",
        "content_policy": "contentpolicyviolationerror",
        "output_limit": "max_output_tokens",
        "server": (
            "overloaded_error internalserverexception serviceunavailableexception"
            " modeltimeoutexception modelnotreadyexception modelstreamerrorexception"
            " modelerrorexception engine_overloaded_error internal_server_error unavailable"
            " deadline_exceeded internal bad_gateway gateway_timeout timeout_error"
            " model_overloaded server_error api_error internal_error server_is_overloaded"
            " service_unavailable overloaded slow_down upstream_error network_error"
            " internalservererror serviceunavailableerror badgatewayerror timeout"
            " apiconnectionerror apitimeouterror connecterror connecttimeout readtimeout"
            " readerror writeerror writetimeout pooltimeout remoteprotocolerror"
            " timeoutexception transporterror networkerror endpointconnectionerror"
            " connectionclosederror readtimeouterror connecttimeouterror httpclienterror"
            " connectionerror connectionreseterror connectionrefusederror connectionabortederror"
            " brokenpipeerror timeouterror sslerror eventstreamerror incompleteread"
            " internalserver_error server_overloaded provider_error bad_response"
            " internalservererrorexception noresponseerror chunkedencodingerror"
            " provider_unavailable no_available_providers"
        ),
        "invalid_request": (
            "invalid_request_error invalid_argument validationexception"
            " bad_request bad_request_error invalid_parameter_error invalidparameter"
            " validation_error not_found_error model_not_found failed_precondition"
            " invalid_request invalid_value unsupported_parameter unsupported_value"
            " invalid_type string_above_max_length validation"
            " badrequest invalid-argument notfound not_found resourcenotfoundexception"
            " unprocessable_entity model_not_supported tool_use_failed json_validate_failed"
            " invalid_image invalidimage unsupportedparamserror out_of_range"
            " paramvalidationerror badrequesterror unprocessableentityerror notfounderror"
            " conflicterror"
        ),
    }
)
"""Types that many different errors share; they count where the words say nothing."""

FINISHES = _table(
    {
        "context_overflow": "model_length model_context_window_exceeded error_limit context_length",
        "output_limit": "length max_tokens max_output_tokens",
        "content_policy": (
            "content_filter refusal safety prohibited_content blocklist spii recitation"
            " image_safety guardrail_intervened content_filtered error_toxic sensitive"
            " model_armor language"
        ),
        "server": "error error_finish network_error malformed_function_call",
        "rate_limit": "user_cancel_rate_limit",
    }
)
"""Why an answer ended, where it didn't end by itself.

Sources: https://docs.mistral.ai/api (``model_length``),
https://docs.cohere.com/reference/chat (``ERROR_LIMIT``),
https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons,
https://ai.google.dev/api/generate-content#FinishReason.
"""

SURE_STATUSES: dict[int, Kind] = {401: "auth", 402: "billing"}
"""What decides before codes do."""

TELLING_STATUSES: dict[int, Kind] = {
    403: "auth",
    404: "invalid_request",
    405: "invalid_request",
    407: "auth",
    408: "server",
    413: "payload_too_large",
    429: "rate_limit",
    498: "rate_limit",
}
"""What decides where the words say nothing, before the types that many errors share."""

STATUSES: tuple[tuple[range, Kind], ...] = (
    (range(400, 500), "invalid_request"),
    (range(500, 600), "server"),
)
"""What is left to go by; a 4xx only where there is a message at all."""
