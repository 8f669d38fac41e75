import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectMongo } from '@gateway/mongo';
import { createCertificate } from './https-server';
import { announcementOf, endHolder, startHolder } from './servers';
import type { Addresses } from './space';
import { kafkaOf } from './space';
import { until } from './until';

type Settings = Readonly<Record<string, string>>;

/** A broker and a MongoDB that admit only users, over TLS. As {@link Addresses}: those of their administrators. */
export interface SecuredServers extends Addresses {
  /** Of its listener for client certificates. */
  readonly certificateBrokers: string;
  /** With these settings a process is this user at Kafka. */
  kafkaUser(name: string): Settings;
  /** The same by a certificate: Kafka calls this user `User:CN=name`. */
  kafkaCertificate(name: string): Settings;
  /** Of a user whose name there begins with the prefix; of nobody by default. */
  mongoUriOf(user?: string, prefix?: string): string;
  /** Of a user at both servers. */
  passwordOf(user: string): string;
  /** PEM file: the authority of both servers. */
  readonly caFile: string;
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 90_000;
const ADMIN = 'admin';

/**
 * Starts both as local processes for the caller alone. Kafka has the users and the administrator; MongoDB has its
 * administrator and gets users from the caller.
 *
 * @param options.users names of users at Kafka
 * @param options.certified names of users whose certificate Kafka trusts
 */
export async function openSecuredServers(options: {
  users: readonly string[];
  certified: readonly string[];
}): Promise<SecuredServers> {
  const directory = mkdtempSync(join(tmpdir(), 'payment-gateway-secured-'));
  const passwords = new Map([ADMIN, ...options.users].map((user) => [user, randomBytes(24).toString('base64url')]));
  const files = await writeFiles(directory, passwords, options.certified);
  const holder = startHolder('test-secured.mjs', [files.security]);
  const close = async (): Promise<void> => {
    await endHolder(holder);
    rmSync(directory, { recursive: true });
  };
  const announced = await announcementOf<{ port: number; certificatePort: number; mongodbPort: number }>(holder);
  if ('failure' in announced) throw new Error(announced.failure);

  const passwordOf = (user: string): string => passwords.get(user) ?? '';
  const tls: Settings = { KAFKA_TLS: 'on', KAFKA_CA_FILE: files.ca };
  const kafkaUser = (name: string): Settings => ({ ...tls, KAFKA_USER: name, KAFKA_PASSWORD: passwordOf(name) });
  const uri = (credentials: string, option: string): string =>
    `mongodb://${credentials}127.0.0.1:${announced.mongodbPort}/?${option}&tls=true&tlsCAFile=${files.ca}`;
  const mongoUriOf = (user?: string, prefix = ''): string =>
    uri(user === undefined ? '' : `${prefix}${user}:${passwordOf(user)}@`, 'replicaSet=rs0');
  const servers: SecuredServers = {
    brokers: `127.0.0.1:${announced.port}`,
    certificateBrokers: `127.0.0.1:${announced.certificatePort}`,
    kafkaAccess: kafkaUser(ADMIN),
    mongoUri: mongoUriOf(ADMIN),
    kafkaUser,
    kafkaCertificate: (name) => ({
      ...tls,
      KAFKA_CERT_FILE: join(directory, `${name}.crt`),
      KAFKA_KEY_FILE: join(directory, `${name}.key`),
    }),
    mongoUriOf,
    passwordOf,
    caFile: files.ca,
    close,
  };
  try {
    await Promise.all([
      kafkaIsUp(servers),
      initiate(uri('', 'directConnection=true'), announced.mongodbPort, passwordOf(ADMIN)),
    ]);
    return servers;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Everything that the servers and their clients read. Each certificate is its own authority. */
async function writeFiles(directory: string, passwords: Map<string, string>, certified: readonly string[]) {
  const write = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const server = await createCertificate();
  const keyFile = write('server.pem', `${server.key}\n${server.cert}\n`);
  const ca = write('ca.pem', server.cert);
  const trusted = [server.cert];
  for (const name of certified) {
    const { cert, key } = await createCertificate(name);
    write(`${name}.crt`, cert);
    write(`${name}.key`, key);
    trusted.push(cert);
  }
  const kafka = {
    keyFile,
    trustFile: write('trusted.pem', trusted.join('\n')),
    passwords: Object.fromEntries(passwords),
  };
  const memberKeyFile = write('member.key', randomBytes(32).toString('base64'));
  const security = write(
    'security.json',
    JSON.stringify({ kafka, mongodb: { keyFile, trustFile: ca, memberKeyFile } }),
  );
  return { ca, security };
}

async function kafkaIsUp(servers: Addresses): Promise<void> {
  await until(
    'the broker answers its administrator',
    async () => {
      const admin = kafkaOf(servers).admin({ retry: { retries: 0 } });
      try {
        await admin.connect();
        await admin.listTopics();
        return true;
      } catch {
        return false;
      } finally {
        await admin.disconnect();
      }
    },
    START_TIMEOUT_MS,
  );
}

/** While a server has no users, it lets its own machine initiate it and create the first one. */
async function initiate(uri: string, port: number, password: string): Promise<void> {
  const connection = await until(
    'MongoDB answers',
    () => connectMongo({ uri, database: 'admin' }).catch(() => undefined),
    START_TIMEOUT_MS,
  );
  const admin = connection.mongoose.getClient().db('admin');
  await admin.command({ replSetInitiate: { _id: 'rs0', members: [{ _id: 0, host: `127.0.0.1:${port}` }] } });
  await until('the primary', async () => (await admin.command({ hello: 1 }))['isWritablePrimary'] === true);
  await admin.command({ createUser: ADMIN, pwd: password, roles: ['root'] });
  await connection.close();
}
