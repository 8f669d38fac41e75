import { isLoopback, withoutBrackets } from './address-range';
import type { KafkaConfig, MongoConfig } from './config';
import type { ProductionRule } from './production';

/** Whoever reaches an open broker could read customers' data and forge commands. */
const kafkaKnowsUs: ProductionRule<KafkaConfig> = ({ KAFKA_USER, KAFKA_CERT_FILE }) =>
  KAFKA_USER === undefined && KAFKA_CERT_FILE === undefined
    ? 'Connections to Kafka are anonymous: set KAFKA_USER and KAFKA_PASSWORD, or KAFKA_CERT_FILE and KAFKA_KEY_FILE.'
    : undefined;

const kafkaIsEncrypted: ProductionRule<KafkaConfig> = ({ KAFKA_TLS, KAFKA_BROKERS }) =>
  KAFKA_TLS === 'off' && !areLoopback(KAFKA_BROKERS)
    ? 'KAFKA_TLS is off, and the brokers are not on this machine.'
    : undefined;

/** What authenticates a process by something else than a user in the URI. Others, `DEFAULT` too, need one. */
const WITHOUT_USER: ReadonlySet<string> = new Set(['MONGODB-X509', 'MONGODB-AWS', 'MONGODB-OIDC']);

const mongoKnowsUs: ProductionRule<MongoConfig> = ({ MONGODB_URI }) => {
  const { user = '', options } = partsOf(MONGODB_URI);
  const isKnown = !/^(:|$)/.test(user) || WITHOUT_USER.has(options.get('authmechanism') ?? '');
  return isKnown ? undefined : 'MONGODB_URI names no user.';
};

const UNCHECKED = ['tlsinsecure', 'tlsallowinvalidcertificates', 'tlsallowinvalidhostnames'];

const mongoIsEncrypted: ProductionRule<MongoConfig> = ({ MONGODB_URI }) => {
  const { isSrv, hosts, options } = partsOf(MONGODB_URI);
  const tls = options.get('tls') ?? options.get('ssl') ?? String(isSrv);
  // Anything but `false` is refused: the driver's own reading of other values may change.
  const isChecked = UNCHECKED.every((name) => (options.get(name) ?? 'false') === 'false');
  if ((tls === 'true' && isChecked) || areLoopback(hosts)) return undefined;
  return isChecked
    ? 'MONGODB_URI does not ask for TLS (tls=true), and its servers are not on this machine.'
    : 'MONGODB_URI asks for TLS without checking certificates.';
};

/** The file with the certificate that an address of MongoDB names for this process; undefined if it names none. */
export function mongoCertificateOf(uri: string): string | undefined {
  return partsOf(uri).options.get('tlscertificatekeyfile');
}

/** For everything that uses Kafka. */
export const kafkaProductionRules: readonly ProductionRule<KafkaConfig>[] = [kafkaKnowsUs, kafkaIsEncrypted];
/** For everything that uses MongoDB. */
export const mongoProductionRules: readonly ProductionRule<MongoConfig>[] = [mongoKnowsUs, mongoIsEncrypted];

const URI = /^mongodb(?<srv>\+srv)?:\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/?]*)(?:\/[^?]*)?(?:\?(?<query>.*))?$/;

/** An address that the driver does not understand has no parts; the driver reports it. */
function partsOf(uri: string) {
  const { srv, user, hosts = '', query = '' } = URI.exec(uri)?.groups ?? {};
  // The driver ignores the case of names.
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value] as const);
  return { isSrv: srv !== undefined, user, hosts, options: new Map(pairs) };
}

/** @param hosts `host:port,host:port` */
function areLoopback(hosts: string): boolean {
  return hosts.split(',').every((host) => isLoopback(withoutBrackets(host.trim().replace(/:\d+$/, ''))));
}
