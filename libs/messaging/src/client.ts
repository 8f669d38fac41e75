import net from 'node:net';
import tls from 'node:tls';
import type { ISocketFactory, LogEntry } from 'kafkajs';
import { Kafka, logLevel } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { sharedLookup } from '@gateway/service-kit';
import type { BrokerAddress, OpenLink } from './broker-link';
import { createLinks } from './broker-link';
import type { KafkaConnection } from './connection';
import { freshConnections } from './fresh-connection';
import { assertKafkajsVersion } from './kafkajs-version';
import { quickenFetches } from './quick-fetch';
import { quietRequestQueues } from './quiet-request-queue';
import { steadyConsumerGroups } from './steady-consumer';

/** A process's client. Opaque outside this library, because nothing else imports kafkajs. */
export interface KafkaClient extends Kafka {
  /** Connections to single brokers, for requests that bypass kafkajs' cluster. */
  readonly links: { readonly openLink: OpenLink; readonly seeds: readonly BrokerAddress[] };
}

const KEEP_ALIVE_DELAY_MS = 30_000;
const CONNECTION_TIMEOUT_MS = 3_000;
/** Requests that wait at the broker by design (fetch, join) have longer time-outs of their own. */
const REQUEST_TIMEOUT_MS = 10_000;
const RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 3_000 } as const;

/**
 * A kafkajs client. It connects when a publisher or worker on it starts.
 *
 * kafkajs keeps the committed offsets of a consumer group on the client, so two members of the same group in one
 * process (as in a test with two replicas) need a client each.
 */
export function createKafka(options: KafkaConnection & { clientId: string; logger: Logger }): KafkaClient {
  assertKafkajsVersion();
  quietRequestQueues();
  freshConnections();
  quickenFetches();
  steadyConsumerGroups();
  const { clientId, brokers, sasl } = options;
  const socketFactory = createSocketFactory(options.tls);
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    ...(sasl !== undefined && { sasl }),
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    retry: RETRY,
    socketFactory,
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => forwardLog(options.logger, entry),
  });
  const openLink = createLinks({ clientId, socketFactory, sasl });
  return Object.assign(kafka, { links: { openLink, seeds: brokers.map(addressFrom) } });
}

function addressFrom(broker: string): BrokerAddress {
  const colon = broker.lastIndexOf(':');
  return { host: broker.slice(0, colon), port: Number(broker.slice(colon + 1)) };
}

/** All connections to brokers come from here. */
function createSocketFactory(tlsOptions: KafkaConnection['tls']): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    const socket =
      tlsOptions === undefined
        ? net.connect({ host, port, lookup: sharedLookup }, onConnect)
        : tls.connect({ host, port, lookup: sharedLookup, ...servername, ...tlsOptions() }, onConnect);
    // Nagle's algorithm delays small requests. With one send in flight it would delay every send.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    // kafkajs unrefs the dead socket with each failed reconnect, which would add a listener each time.
    const unref = socket.unref.bind(socket);
    socket.unref = () => (socket.destroyed ? socket : unref());
    return socket;
  };
}

/** kafkajs logs these as warnings or errors, although groups, leaders and metadata normally move. */
const EVERYDAY =
  /rebalanc|generation|member id|not aware of this member|no leader for this topic-partition|not the leader|coordinator/i;
/** Logged many times a second under back-pressure. */
const CHATTER = /^(Pausing|Resuming) fetching/;
const FORWARDED_FIELDS = ['broker', 'groupId', 'memberId', 'topic', 'partition', 'offset', 'retryCount'] as const;

function forwardLog(logger: Logger, { level, namespace, log }: LogEntry): void {
  const cause: unknown = log['error'];
  const reason = cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : undefined;
  const fields: Record<string, unknown> = { component: `kafkajs ${namespace}` };
  if (reason !== undefined) fields['reason'] = reason;
  for (const name of FORWARDED_FIELDS) if (log[name] !== undefined) fields[name] = log[name] as unknown;

  if (CHATTER.test(log.message)) logger.debug(log.message, fields);
  else if (level > logLevel.WARN || EVERYDAY.test(`${log.message} ${reason ?? ''}`)) logger.info(log.message, fields);
  else if (level === logLevel.WARN) logger.warn(log.message, fields);
  else logger.error(log.message, fields);
}
