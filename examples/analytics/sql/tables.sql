-- What the reader writes. The views of views.sql say what it means.

-- Every message that can be read, once for each time that it is in a topic. No row is ever changed.
CREATE TABLE IF NOT EXISTS events (
  topic VARCHAR NOT NULL, -- without TOPIC_PREFIX
  kafka_partition INTEGER NOT NULL,
  kafka_offset BIGINT NOT NULL,
  id VARCHAR NOT NULL, -- ce_id
  type VARCHAR NOT NULL, -- ce_type
  source VARCHAR,
  time TIMESTAMP NOT NULL, -- ce_time, in UTC
  subject VARCHAR NOT NULL, -- ce_subject: the payment, payout or callback that the event belongs to
  version BIGINT NOT NULL, -- ce_aggregateversion: its number there, from 1
  correlation_id VARCHAR,
  causation_id VARCHAR,
  headers JSON NOT NULL, -- the others
  data JSON NOT NULL -- with fields that views.sql does not know yet
);

-- Messages that are not events as docs/messages.md describes them, byte for byte.
CREATE TABLE IF NOT EXISTS unreadable (
  topic VARCHAR NOT NULL,
  kafka_partition INTEGER NOT NULL,
  kafka_offset BIGINT NOT NULL,
  problem VARCHAR NOT NULL,
  key BLOB,
  headers JSON NOT NULL,
  value BLOB
);

-- How far each partition is read. Written in the transaction that writes the rows.
CREATE TABLE IF NOT EXISTS positions (
  topic VARCHAR NOT NULL,
  kafka_partition INTEGER NOT NULL,
  first_offset BIGINT NOT NULL, -- of the first message that Kafka still had
  next_offset BIGINT NOT NULL,
  PRIMARY KEY (topic, kafka_partition)
);

-- `source`: where the events come from. `complete_to`: everything that the topics had at this time is in the tables.
CREATE TABLE IF NOT EXISTS facts (name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
