import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { messageOf } from '@gateway/service-kit';
import type { Check } from '../check';
import type { Replica } from '../replicas';
import { parseOpsUrls } from '../replicas';
import type { Config } from '../settings';

const DAY_MS = 86_400_000;
const WARN_DAYS = 14;
const CONNECT_TIMEOUT_MS = 5_000;

interface Source {
  /** For sentences. */
  name: string;
  read(): Promise<X509Certificate>;
}

/** Certificates of our ports, the brokers and MongoDB, and client certificates in files, last for two weeks. No port does without. */
export const certificatesCheck: Check = {
  name: 'certificates',
  async examine({ config, replicas, now }) {
    const sources = [publicPorts, internalPorts, brokers, mongodb, files].flatMap((of) => of(config));
    const found = await Promise.all(sources.map((source) => examineOne(source, now)));
    const expiring = found.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
    const faults = [...expiring, ...replicas.flatMap(plainFault)];
    const first = Math.min(...found.map(({ daysLeft }) => daysLeft));
    const fine = found.length === 0 ? 'none in use' : `${found.length}, the first ends in ${Math.floor(first)} days`;
    return { faults, fine };
  },
};

async function examineOne({ name, read }: Source, now: number): Promise<{ daysLeft: number; fault?: string }> {
  try {
    const { validTo } = await read();
    const daysLeft = (Date.parse(validTo) - now) / DAY_MS;
    if (daysLeft > WARN_DAYS) return { daysLeft };
    const end = daysLeft < 0 ? 'has ended' : `ends in ${Math.floor(daysLeft)} days`;
    return { daysLeft, fault: `The certificate of ${name} ${end} (${validTo}): replace it.` };
  } catch (error) {
    return { daysLeft: Infinity, fault: `The certificate of ${name} cannot be read: ${messageOf(error)}.` };
  }
}

function plainFault({ name, about }: Replica): string[] {
  const settings = about?.exceptions ?? [];
  if (settings.length === 0) return [];
  return [
    `${name} has ${settings.join(', ')}, so that internal ports need no TLS: end the change-over, then take it away.`,
  ];
}

function publicPorts({ PUBLIC_BASE_URL, THREEDS_PUBLIC_URL }: Config): Source[] {
  const urls = { PUBLIC_BASE_URL, THREEDS_PUBLIC_URL };
  return Object.entries(urls).flatMap(([setting, text]) => {
    if (text === undefined || !text.startsWith('https:')) return [];
    const { hostname, port } = new URL(text);
    return [served(`${setting} ${text}`, hostname, Number(port || 443))];
  });
}

/** A service has one certificate for all its internal ports. */
function internalPorts({ OPS_URLS }: Config): Source[] {
  const urls = OPS_URLS === undefined ? [] : parseOpsUrls(OPS_URLS);
  return urls
    .filter(({ url }) => url.protocol === 'https:')
    .map(({ service, url }) => served(`the internal ports of ${service}`, url.hostname, Number(url.port || 443)));
}

function brokers({ KAFKA_BROKERS, KAFKA_TLS }: Config): Source[] {
  if (KAFKA_TLS === 'off') return [];
  return KAFKA_BROKERS.split(',').map((broker) => {
    const [, host = '', port] = /^(.*):(\d+)$/.exec(broker.trim()) ?? [];
    return served(`the broker ${host}:${port}`, host, Number(port));
  });
}

/** Not of `mongodb+srv` addresses, whose hosts only the driver knows. */
function mongodb({ MONGODB_URI }: Config): Source[] {
  const [, hosts = '', options = ''] =
    /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)(?:\/[^?]*)?(?:\?(.*))?$/.exec(MONGODB_URI) ?? [];
  const given = new URLSearchParams(options);
  if (given.get('tls') !== 'true' && given.get('ssl') !== 'true') return [];
  return hosts.split(',').map((host) => {
    const [, name = host, port = '27017'] = /^(.*):(\d+)$/.exec(host) ?? [];
    return served(`MongoDB at ${name}:${port}`, name, Number(port));
  });
}

function files({ KAFKA_CERT_FILE: file }: Config): Source[] {
  if (file === undefined) return [];
  return [{ name: `the file ${file}`, read: async () => new X509Certificate(readFileSync(file)) }];
}

/** Whoever presents it: it is only read here. Clients check it when they connect. */
function served(name: string, host: string, port: number): Source {
  return {
    name,
    read: () =>
      new Promise((resolve, reject) => {
        const servername = net.isIP(host) === 0 ? { servername: host } : {};
        const socket = tls.connect({ host, port, ...servername, rejectUnauthorized: false });
        socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error(`no answer in ${CONNECT_TIMEOUT_MS} ms`)));
        socket.once('secureConnect', () => {
          const certificate = socket.getPeerX509Certificate();
          socket.destroy();
          if (certificate === undefined) reject(new Error('it presents none'));
          else resolve(certificate);
        });
        socket.once('error', reject);
      }),
  };
}
