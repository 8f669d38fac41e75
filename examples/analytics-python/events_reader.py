"""Reads the gateway's events into an SQLite file: each once, checked by its JSON Schema. README.md says more."""

import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition
from jsonschema import Draft7Validator

TOPICS = ["card.events.v1", "payout.events.v1", "callback.events.v1"]
CALL_TIMEOUT_S = 15
WAIT_S = 0.5
SILENCE_LIMIT_S = 60
BATCH_MESSAGES = 500
PROBLEM_LENGTH_MAX = 500

TABLES = """
CREATE TABLE IF NOT EXISTS source (name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS positions (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL, PRIMARY KEY (topic, partition)
);
CREATE TABLE IF NOT EXISTS events (
  id TEXT PRIMARY KEY, type TEXT, subject TEXT, version INTEGER, time TEXT,
  topic TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL,
  data TEXT, problem TEXT
);
"""


class Failure(Exception):
    """Ends the reader; the message is one sentence for whoever runs it."""


def setting(name, default=None):
    """An environment variable; an empty one counts as unset, and NAME_FILE may name a file that holds it."""
    file = os.environ.get(f"{name}_FILE")
    value = Path(file).read_text().rstrip() if file else os.environ.get(name)
    return value or default


def kafka_settings():
    brokers = setting("KAFKA_BROKERS")
    if brokers is None:
        raise Failure("KAFKA_BROKERS is not set: host:port, comma-separated.")
    tls, user = setting("KAFKA_TLS", "off") == "on", setting("KAFKA_USER")
    settings = {
        "bootstrap.servers": brokers,
        # Only for the right to read: positions are in the file.
        "group.id": setting("TOPIC_PREFIX", "") + setting("ANALYTICS_GROUP", "analytics"),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "allow.auto.create.topics": False,
        # A position that Kafka no longer has is a loss, which must not pass unseen.
        "auto.offset.reset": "error",
        # Otherwise it logs twenty lines a second while no broker answers.
        "reconnect.backoff.ms": 1000,
        "security.protocol": ("SASL_" if user else "") + ("SSL" if tls else "PLAINTEXT"),
    }
    if user:
        settings |= {
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": setting("KAFKA_PASSWORD"),
        }
    files = {"ca": "KAFKA_CA_FILE", "certificate": "KAFKA_CERT_FILE", "key": "KAFKA_KEY_FILE"}
    return settings | {f"ssl.{part}.location": os.environ[name] for part, name in files.items() if os.environ.get(name)}


def read_validators(folder):
    """By message type. Unknown fields are allowed: a later release may write them."""
    return {file.stem: Draft7Validator(json.loads(file.read_text())) for file in Path(folder).glob("*.json")}


def problem_of(validators, kind, value):
    """The parsed value, and what is wrong with it in one line."""
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):  # the second: nested too deep
        return None, "no JSON"
    if kind not in validators:
        return data, "a type without a schema"
    error = next(iter(validators[kind].iter_errors(data)), None)
    return data, error and f"{error.json_path}: {error.message}"[:PROBLEM_LENGTH_MAX]


def row_of(validators, prefix, message):
    headers = {name: value.decode(errors="replace") for name, value in message.headers() or [] if value is not None}
    topic, kind = message.topic()[len(prefix) :], headers.get("ce_type")
    data, problem = problem_of(validators, kind, message.value() or b"")
    place = f"{topic}/{message.partition()}/{message.offset()}"
    return {
        "id": headers.get("ce_id", place),
        "type": kind,
        "subject": headers.get("ce_subject"),
        "version": headers.get("ce_aggregateversion"),
        "time": headers.get("ce_time"),
        "topic": topic,
        "partition": message.partition(),
        "offset": message.offset(),
        "data": None if data is None else json.dumps(data),
        "problem": problem,
    }


class Store:
    """Rows and positions in one file, written in one transaction: after a crash both are there, or neither."""

    def __init__(self, file):
        self.db = sqlite3.connect(file, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.executescript(TABLES)

    def bind_to(self, source):
        """The offsets of another cluster or prefix would mean other messages."""
        known = self.db.execute("SELECT name FROM source").fetchone()
        if known is None:
            self.db.execute("INSERT INTO source VALUES (?)", [source])
        elif known[0] != source:
            raise Failure(f"The file has events of {known[0]}, not of {source}: name another one in EVENTS_FILE.")

    def position(self, topic, partition):
        found = self.db.execute(
            "SELECT next_offset FROM positions WHERE topic = ? AND partition = ?", [topic, partition]
        ).fetchone()
        return found and found[0]

    def append(self, rows):
        """Returns how many are new: an event that comes again has the same id."""
        before = self.db.total_changes
        self.db.execute("BEGIN IMMEDIATE")
        try:
            self.db.executemany(
                "INSERT OR IGNORE INTO events VALUES "
                "(:id, :type, :subject, :version, :time, :topic, :partition, :offset, :data, :problem)",
                rows,
            )
            added = self.db.total_changes - before
            self.db.executemany(
                "INSERT INTO positions VALUES (:topic, :partition, :offset + 1) "
                "ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset",
                rows,
            )
            self.db.execute("COMMIT")
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        return added


def assign(consumer, store, prefix):
    """Reads on where the file ends. Returns the end of each partition at this moment."""
    cluster = consumer.list_topics(timeout=CALL_TIMEOUT_S)
    store.bind_to(f"{prefix}* at Kafka cluster {cluster.cluster_id}")
    ends, starts = {}, []
    for topic in TOPICS:
        found = cluster.topics.get(prefix + topic)
        if found is None or found.error is not None:
            raise Failure(f"The topic {prefix + topic} is not there, or may not be read.")
        for partition in found.partitions:
            low, high = consumer.get_watermark_offsets(
                TopicPartition(prefix + topic, partition), timeout=CALL_TIMEOUT_S
            )
            position = store.position(topic, partition)
            if position is not None and position > high:
                raise Failure(f"Partition {partition} of {topic} was made anew: name another file in EVENTS_FILE.")
            if position is not None and position < low:
                print(f"partition {partition} of {topic}: {low - position} messages were deleted unread", flush=True)
            start = max(position or 0, low)
            starts.append(TopicPartition(prefix + topic, partition, start))
            if start < high:
                ends[prefix + topic, partition] = high
    consumer.assign(starts)
    return ends


def read(consumer, store, validators, prefix, is_over, once):
    ends = assign(consumer, store, prefix)
    read_count = added = 0
    heard = time.monotonic()
    while not is_over() and not (once and not ends):
        messages = consumer.consume(BATCH_MESSAGES, timeout=WAIT_S)
        for message in messages:
            if message.error() is not None:
                raise KafkaException(message.error())
        if not messages:
            if once and time.monotonic() - heard > SILENCE_LIMIT_S:
                raise Failure(f"Nothing has come for {SILENCE_LIMIT_S} s although messages are missing.")
            continue
        heard = time.monotonic()
        added += store.append([row_of(validators, prefix, message) for message in messages])
        read_count += len(messages)
        for message in messages:
            place = message.topic(), message.partition()
            if message.offset() + 1 >= ends.get(place, 0):
                ends.pop(place, None)
    return read_count, added


def failed(why):
    print(f"events_reader: {why}", file=sys.stderr)
    return 1


def main(args):
    once = args == ["--once"]
    if args and not once:
        print("usage: events_reader.py [--once]    --once: ends when it has what the topics have now")
        return 2
    stopped = []
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.append(True))
    prefix = setting("TOPIC_PREFIX", "")
    schemas = setting("SCHEMAS_DIR", str(Path(__file__).parents[2] / "docs" / "schemas"))
    try:
        store = Store(setting("EVENTS_FILE", "events.sqlite"))
        consumer = Consumer(kafka_settings())
        try:
            counts = read(consumer, store, read_validators(schemas), prefix, lambda: bool(stopped), once)
        finally:
            consumer.close()
    except KafkaException as error:
        return failed(error.args[0].str())
    except (Failure, OSError, sqlite3.Error) as error:
        return failed(error)
    print("read {} messages, {} of them new".format(*counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
