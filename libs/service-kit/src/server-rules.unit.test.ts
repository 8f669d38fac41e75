import { kafkaSchema, loadConfig, mongoSchema } from './config';
import { kafkaProductionRules, mongoProductionRules } from './server-rules';

const kafka = (env: Record<string, string>) =>
  kafkaProductionRules.flatMap((rule) => rule(loadConfig(kafkaSchema, { KAFKA_BROKERS: 'kafka:9093', ...env })) ?? []);
const mongo = (MONGODB_URI: string) =>
  mongoProductionRules.flatMap((rule) => rule(loadConfig(mongoSchema, { MONGODB_URI })) ?? []);

const NOBODY =
  'Connections to Kafka are anonymous: set KAFKA_USER and KAFKA_PASSWORD, or KAFKA_CERT_FILE and KAFKA_KEY_FILE.';
const IN_CLEAR = 'KAFKA_TLS is off, and the brokers are not on this machine.';
const user = { KAFKA_USER: 'payout', KAFKA_PASSWORD: 'secret' };

test.each([
  [{}, [NOBODY, IN_CLEAR]],
  [{ KAFKA_TLS: 'on' }, [NOBODY]],
  [user, [IN_CLEAR]],
  [{ ...user, KAFKA_TLS: 'on' }, []],
  [{ KAFKA_TLS: 'on', KAFKA_CERT_FILE: 'cert.pem', KAFKA_KEY_FILE: 'key.pem' }, []],
  [{ ...user, KAFKA_BROKERS: '127.0.0.1:9092,localhost:9093,[::1]:9094' }, []],
  [{ ...user, KAFKA_BROKERS: '127.0.0.1:9092,kafka:9093' }, [IN_CLEAR]],
])('Kafka with %j', (env, sentences) => {
  expect(kafka(env)).toEqual(sentences);
});

const NO_USER = 'MONGODB_URI names no user.';
const NO_TLS = 'MONGODB_URI does not ask for TLS (tls=true), and its servers are not on this machine.';
const UNCHECKED = 'MONGODB_URI asks for TLS without checking certificates.';

test.each([
  ['mongodb://db1:27017,db2:27017/?replicaSet=rs0', [NO_USER, NO_TLS]],
  ['mongodb://payout:pw@db1:27017/?replicaSet=rs0', [NO_TLS]],
  ['mongodb://payout:pw@db1/?tls=true', []],
  ['mongodb://payout:p%40w@db1/?replicaSet=rs0&TLS=true&tlsCAFile=/ca.pem', []],
  ['mongodb://payout:pw@db1/?ssl=true', []],
  ['mongodb+srv://payout:pw@cluster.example/', []],
  ['mongodb+srv://payout:pw@cluster.example/?tls=false', [NO_TLS]],
  ['mongodb://payout:pw@db1/?tls=true&tlsInsecure=true', [UNCHECKED]],
  ['mongodb://db1/?tls=true&tlsCertificateKeyFile=/c.pem&authMechanism=MONGODB-X509', []],
  ['mongodb://db1/?tls=true&authMechanism=DEFAULT', [NO_USER]],
  ['mongodb://db1/?tls=true&authMechanism=SCRAM-SHA-256', [NO_USER]],
  ['mongodb://@db1/?tls=true', [NO_USER]],
  ['mongodb://:pw@db1/?tls=true', [NO_USER]],
  ['mongodb://payout:pw@db1/?tls=true&tlsAllowInvalidCertificates=1', [UNCHECKED]],
  ['mongodb://127.0.0.1:27017/?replicaSet=rs0', [NO_USER]],
  ['mongodb://payout:pw@127.0.0.1:27017,[::1]:27018/?replicaSet=rs0', []],
])('MongoDB at %s', (uri, sentences) => {
  expect(mongo(uri)).toEqual(sentences);
});
