"""What Schemathesis cannot know of the gateway: values of our formats, and the credentials of a demo account."""

import uuid

import schemathesis
from hypothesis import strategies as st


def with_check_digit(digits):
    """ISO/IEC 7812-1: the digits with the one that makes the Luhn sum a multiple of ten."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = int(digit) * 2 if position % 2 == 0 else int(digit)
        total += doubled - 9 if doubled > 9 else doubled
    return digits + str(-total % 10)


schemathesis.openapi.format(
    "card-number", st.text(alphabet="0123456789", min_size=12, max_size=18).map(with_check_digit)
)
schemathesis.openapi.format("iso-4217", st.sampled_from(["XTS", "EUR", "USD", "JPY"]))
schemathesis.openapi.format("iso-3166-1-alpha-3", st.sampled_from(["DEU", "USA", "LTU"]))
schemathesis.openapi.format("iban", st.sampled_from(["DE89370400440532013000", "FI2112345600000785"]))
schemathesis.openapi.format("bic", st.sampled_from(["DEUTDEFF", "NDEAFIHH"]))
schemathesis.openapi.format("https-url", st.sampled_from(["https://localhost:4/callback", "https://localhost:4/back"]))
schemathesis.openapi.format("idn-email", st.sampled_from(["jane.doe@example.com", "ann@example.org"]))


@schemathesis.hook
def map_body(context, body):
    """With the credentials of a demo account and an id of its own, unless the request is to be without: most requests
    would otherwise end at the first check, and many wrong passwords at the throttle."""
    if isinstance(body, dict):
        for name, value in (("merchant_account", "demo_merchant"), ("merchant_password", "demo_password")):
            if isinstance(body.get(name), str):
                body[name] = value
        if isinstance(body.get("transaction_unique_id"), str) and len(body["transaction_unique_id"]) >= 11:
            body["transaction_unique_id"] = uuid.uuid4().hex
    return body
