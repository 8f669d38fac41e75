-- What the tables mean. Made anew at each start, so a new version of this file needs no new reading.
-- Amounts are DECIMAL(18, 4) in the main unit of their currency. Times are in UTC.

-- Exact: no division, which DuckDB does in floating point.
CREATE OR REPLACE MACRO money(e4) AS
  CAST(CAST(e4 AS DECIMAL(18, 0)) * CAST(0.0001 AS DECIMAL(4, 4)) AS DECIMAL(18, 4));

-- NULL for a number that is no time before the year 10000.
CREATE OR REPLACE MACRO utc(ms) AS CASE WHEN ms BETWEEN 0 AND 253402300799999 THEN epoch_ms(CAST(ms AS BIGINT)) END;

-- The types that the views below know. `outcome`: how an operation has ended.
CREATE OR REPLACE VIEW known_types AS
SELECT * FROM (VALUES
  ('card.events.v1', 'CardAuthorized', 'approved'),
  ('card.events.v1', 'CardCharged', 'approved'),
  ('card.events.v1', 'AuthorizationSettled', 'approved'),
  ('card.events.v1', 'AuthorizationVoided', 'approved'),
  ('card.events.v1', 'ChargeRefunded', 'approved'),
  ('card.events.v1', 'CardAuthenticated', 'approved'),
  ('card.events.v1', 'CardTokenized', 'approved'),
  ('card.events.v1', 'OperationDeclined', 'declined'),
  ('card.events.v1', 'OperationRefused', 'refused'),
  ('card.events.v1', 'OperationFailed', 'failed'),
  ('card.events.v1', 'AuthenticationStarted', NULL),
  ('card.events.v1', 'OperationOutcomeUnknown', NULL),
  ('card.events.v1', 'CheckoutEnded', NULL),
  ('card.events.v1', 'OutcomeAnnounced', NULL),
  ('card.events.v1', 'AuthorizationExpiring', NULL),
  ('card.events.v1', 'AuthorizationExpired', NULL),
  ('card.events.v1', 'HoldMoved', NULL),
  ('payout.events.v1', 'PayoutSettled', 'settled'),
  ('payout.events.v1', 'PayoutDeclined', 'declined'),
  ('payout.events.v1', 'PayoutFailed', 'failed'),
  ('payout.events.v1', 'PayoutFrauded', 'frauded'),
  ('payout.events.v1', 'PayoutAccepted', NULL),
  ('payout.events.v1', 'PayoutScreened', NULL),
  ('payout.events.v1', 'PayoutSubmitted', NULL),
  ('payout.events.v1', 'PayoutOutcomeUnknown', NULL),
  ('payout.events.v1', 'PayoutReturned', NULL),
  ('callback.events.v1', 'CallbackAttempted', NULL),
  ('callback.events.v1', 'CallbackDelivered', NULL),
  ('callback.events.v1', 'CallbackExhausted', NULL),
  ('callback.events.v1', 'CallbackRecovered', NULL)
) AS known(topic, type, outcome);

-- Events of types that came after this file. They are in `events`, with all their data.
CREATE OR REPLACE VIEW unknown_types AS
SELECT topic, type, count(*) AS events FROM events ANTI JOIN known_types USING (topic, type) GROUP BY ALL;

-- Each event once, however often it was published.
CREATE OR REPLACE VIEW distinct_events AS
SELECT * FROM events QUALIFY row_number() OVER (PARTITION BY topic, id ORDER BY kafka_partition, kafka_offset) = 1;

CREATE OR REPLACE VIEW card_events AS
SELECT
  id, type, utc(fields.occurredAt) AS occurred_at, utc(fields.acceptedAt) AS accepted_at,
  fields.paymentId AS payment_id, version, fields.reference AS reference, fields.baseReference AS base_reference,
  fields.merchantAccount AS merchant_account, fields.transactionUniqueId AS transaction_unique_id,
  fields.transactionType AS transaction_type, money(fields.amountE4) AS amount, fields.currency AS currency,
  fields.cardBrand AS card_brand, fields.midReference AS mid_reference, fields.acquirer AS acquirer,
  fields.token AS token, fields.status AS status, fields.code AS code, fields.message AS message, fields.eci AS eci,
  fields.rule AS rule, fields.reason AS reason, utc(fields.expiresAt) AS expires_at
FROM (
  SELECT *, json_transform(data, '{
    "paymentId": "VARCHAR", "reference": "VARCHAR", "baseReference": "VARCHAR", "merchantAccount": "VARCHAR",
    "transactionUniqueId": "VARCHAR", "transactionType": "VARCHAR", "amountE4": "BIGINT", "currency": "VARCHAR",
    "cardBrand": "VARCHAR", "midReference": "VARCHAR", "acquirer": "VARCHAR", "token": "VARCHAR", "status": "VARCHAR",
    "code": "INTEGER", "message": "VARCHAR", "eci": "INTEGER", "rule": "VARCHAR", "reason": "VARCHAR",
    "acceptedAt": "BIGINT", "occurredAt": "BIGINT", "expiresAt": "BIGINT"
  }') AS fields
  FROM distinct_events WHERE topic = 'card.events.v1'
);

-- One row for each operation. `outcome`: approved, declined, refused, failed, or open as long as it is not known.
-- `unknown_at`, `unknown_code`: its outcome was unknown for some time.
CREATE OR REPLACE VIEW card_operations AS
SELECT
  reference, payment_id, base_reference, merchant_account, transaction_unique_id, transaction_type, amount, currency,
  card_brand, mid_reference, acquirer, token, coalesce(ended_as, 'open') AS outcome, code, message, eci, accepted_at,
  CASE WHEN ended_as IS NOT NULL THEN occurred_at END AS ended_at, unknown_at, unknown_code
FROM (
  SELECT
    card_events.*, outcome AS ended_as,
    min(occurred_at) FILTER (WHERE card_events.type = 'OperationOutcomeUnknown') OVER operation AS unknown_at,
    min(code) FILTER (WHERE card_events.type = 'OperationOutcomeUnknown') OVER operation AS unknown_code
  FROM card_events JOIN known_types ON known_types.topic = 'card.events.v1' AND known_types.type = card_events.type
  WHERE outcome IS NOT NULL OR card_events.type IN ('AuthenticationStarted', 'OperationOutcomeUnknown')
  WINDOW operation AS (PARTITION BY reference)
)
QUALIFY row_number() OVER (PARTITION BY reference ORDER BY ended_as IS NULL, version DESC) = 1;

CREATE OR REPLACE VIEW payout_events AS
SELECT
  id, type, utc(fields.occurredAt) AS occurred_at, utc(fields.acceptedAt) AS accepted_at, fields.payoutId AS payout_id,
  version, fields.reference AS reference, fields.merchantAccount AS merchant_account,
  fields.transactionUniqueId AS transaction_unique_id, money(fields.amountE4) AS amount, money(fields.feeE4) AS fee,
  fields.currency AS currency, fields.token AS token, fields.receiverCountry AS receiver_country,
  fields.instant AS instant, fields.bank AS bank, fields.status AS status, fields.code AS code,
  fields.message AS message, fields.passed AS passed, fields.rule AS rule, fields.reason AS reason,
  fields.returnReason AS return_reason
FROM (
  SELECT *, json_transform(data, '{
    "payoutId": "VARCHAR", "reference": "VARCHAR", "merchantAccount": "VARCHAR", "transactionUniqueId": "VARCHAR",
    "amountE4": "BIGINT", "feeE4": "BIGINT", "currency": "VARCHAR", "token": "VARCHAR", "receiverCountry": "VARCHAR",
    "instant": "BOOLEAN", "bank": "VARCHAR", "status": "VARCHAR", "code": "INTEGER", "message": "VARCHAR",
    "passed": "BOOLEAN", "rule": "VARCHAR", "reason": "VARCHAR", "returnReason": "VARCHAR", "acceptedAt": "BIGINT",
    "occurredAt": "BIGINT"
  }') AS fields
  FROM distinct_events WHERE topic = 'payout.events.v1'
);

-- One row for each payout. `outcome`: settled, declined, failed, frauded, or open. Money that came back later:
-- `returned_at`, `return_reason`; the outcome stays settled.
CREATE OR REPLACE VIEW payouts AS
SELECT
  reference, payout_id, merchant_account, transaction_unique_id, amount, fee, currency, token, receiver_country,
  instant, bank, coalesce(ended_as, 'open') AS outcome, code, message, accepted_at,
  CASE WHEN ended_as IS NOT NULL THEN occurred_at END AS ended_at, unknown_at, unknown_code, returned_at,
  returned_because AS return_reason
FROM (
  SELECT
    payout_events.*, outcome AS ended_as,
    min(occurred_at) FILTER (WHERE payout_events.type = 'PayoutOutcomeUnknown') OVER payout AS unknown_at,
    min(code) FILTER (WHERE payout_events.type = 'PayoutOutcomeUnknown') OVER payout AS unknown_code,
    min(occurred_at) FILTER (WHERE payout_events.type = 'PayoutReturned') OVER payout AS returned_at,
    min(return_reason) OVER payout AS returned_because
  FROM payout_events JOIN known_types ON known_types.topic = 'payout.events.v1' AND known_types.type = payout_events.type
  WINDOW payout AS (PARTITION BY reference)
)
QUALIFY row_number() OVER (PARTITION BY reference ORDER BY ended_as IS NULL, version DESC) = 1;

CREATE OR REPLACE VIEW callback_events AS
SELECT
  id, type, utc(fields.occurredAt) AS occurred_at, fields.deliveryId AS delivery_id, version, fields.kind AS kind,
  fields.paymentId AS payment_id, fields.reference AS reference, fields.merchantAccount AS merchant_account,
  fields.origin AS origin, fields.attempts AS attempts, fields.acknowledged AS acknowledged,
  fields.httpStatus AS http_status, fields.error AS error, fields.durationMs AS duration_ms,
  utc(fields.nextAttemptAt) AS next_attempt_at
FROM (
  SELECT *, json_transform(data, '{
    "deliveryId": "VARCHAR", "kind": "VARCHAR", "paymentId": "VARCHAR", "reference": "VARCHAR",
    "merchantAccount": "VARCHAR", "origin": "VARCHAR", "attempts": "INTEGER", "acknowledged": "BOOLEAN",
    "httpStatus": "INTEGER", "error": "VARCHAR", "durationMs": "BIGINT", "nextAttemptAt": "BIGINT",
    "occurredAt": "BIGINT"
  }') AS fields
  FROM distinct_events WHERE topic = 'callback.events.v1'
);

-- One row for each callback. `state`: delivered, exhausted, or trying. `reported_at`: when the outcome that it reports
-- was known.
CREATE OR REPLACE VIEW callbacks AS
WITH outcomes AS (
  SELECT id, occurred_at FROM card_events UNION ALL SELECT id, occurred_at FROM payout_events
)
SELECT
  delivery_id, any_value(kind) AS kind, any_value(callback.reference) AS reference,
  any_value(merchant_account) AS merchant_account, any_value(origin) AS origin, max(attempts) AS attempts,
  CASE
    WHEN bool_or(type IN ('CallbackDelivered', 'CallbackRecovered')) THEN 'delivered'
    WHEN bool_or(type = 'CallbackExhausted') THEN 'exhausted'
    ELSE 'trying'
  END AS state,
  min(outcomes.occurred_at) AS reported_at,
  min(callback.occurred_at) AS first_attempt_at,
  min(callback.occurred_at) FILTER (WHERE type IN ('CallbackDelivered', 'CallbackRecovered')) AS delivered_at
FROM callback_events AS callback LEFT JOIN outcomes ON outcomes.id = callback.delivery_id
GROUP BY delivery_id;

-- Versions that are missing between others of the same payment, payout or callback. `expired`: Kafka no longer had them
-- when the reading began.
CREATE OR REPLACE VIEW gaps AS
WITH steps AS (
  SELECT
    topic, subject, version,
    coalesce(lag(version) OVER (PARTITION BY topic, subject ORDER BY version), 0) AS previous
  FROM (SELECT DISTINCT topic, subject, version FROM events)
)
SELECT
  topic, subject, previous + 1 AS from_version, version - 1 AS to_version,
  previous = 0 AND topic IN (SELECT topic FROM positions WHERE first_offset > 0) AS expired
FROM steps WHERE version > previous + 1;

-- Versions that came more than once. With several ids they are different events that claim the same number.
CREATE OR REPLACE VIEW duplicates AS
SELECT topic, subject, version, count(*) AS messages, count(DISTINCT id) AS ids
FROM events GROUP BY topic, subject, version HAVING count(*) > 1;

-- Offsets up to the positions that no row has: messages that expired before they were read.
CREATE OR REPLACE VIEW holes AS
WITH taken AS (
  SELECT topic, kafka_partition, kafka_offset FROM events
  UNION ALL SELECT topic, kafka_partition, kafka_offset FROM unreadable
  UNION ALL SELECT topic, kafka_partition, first_offset - 1 FROM positions
  UNION ALL SELECT topic, kafka_partition, next_offset FROM positions
), steps AS (
  SELECT
    *, lag(kafka_offset) OVER (PARTITION BY topic, kafka_partition ORDER BY kafka_offset) AS previous
  FROM taken
)
SELECT topic, kafka_partition, previous + 1 AS from_offset, kafka_offset - 1 AS to_offset
FROM steps WHERE kafka_offset > previous + 1;
