import { setTimeout as pause } from 'node:timers/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TopicName } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import { topicName, topicOf } from '@gateway/messaging';
import type { Space } from '@gateway/testing';
import { kafkaOf } from '@gateway/testing';
import { fetchLag } from '../../libs/messaging/src/lag';
import type { Document, Storage } from '../support/storage';
import { allTopics, readTopics } from '../support/topics';
import type { Notebook } from './merchants/notebook';
import { CHALLENGED_CARD, CVV, FRICTIONLESS_CARD, PAN_PREFIX } from './merchants/requests';
import type { BankEntry, BankOperation, Evidence, GroupLag, Observation, StoredDocument } from './model/evidence';
import type { World } from './world/world';
import { TIMES } from './world/world';

/** Collects the evidence: the merchants' notes, stores, topics, the banks' books, and logs. */
export async function collectEvidence(world: World, storage: Storage, notebook: Notebook): Promise<Evidence> {
  const collectedAt = Date.now();
  const documents = (await storage.everything()) as Map<string, StoredDocument[]>;
  const { topicPrefix } = world.space;
  const records = await readTopics(world.space, allTopics(world.space));
  const messages = records.map((message) => ({ ...message, topic: message.topic.slice(topicPrefix.length) }));
  const { operations, denials, callbacks } = notebook;
  return {
    operations,
    observations: [...notebook.observations, ...toldByEvents(messages), ...toldByStores(documents, collectedAt)],
    denials,
    callbacks,
    bank: ['acquirer', 'bank'].flatMap((bank) => (documents.get(`simulator.${bank}_records`) ?? []).map(bankEntry)),
    calls: [...world.acquirer.calls, ...world.bank.calls],
    messages,
    documents: withoutBanks(documents),
    lags: await lagsThatStay(world.space),
    logs: readLogs(world.logDirectory),
    secrets: { pans: [PAN_PREFIX, CHALLENGED_CARD, FRICTIONLESS_CARD], cvvs: [CVV] },
    callTimeoutMs: TIMES.callTimeoutMs,
    collectedAt,
  };
}

/** The simulator's collections are the banks' data, not the gateway's. */
function withoutBanks(documents: Map<string, StoredDocument[]>): Map<string, StoredDocument[]> {
  return new Map([...documents].filter(([name]) => !name.startsWith('simulator.')));
}

/** Only final outcomes. Another check covers the order of events. */
function toldByEvents(messages: Evidence['messages']): Observation[] {
  const outcomes: string[] = [topics.cardEvents.name, topics.payoutEvents.name];
  return messages.flatMap(({ topic, value, headers }) => {
    if (!outcomes.includes(topic) || headers['ce_type'] === 'CheckoutEnded') return [];
    const data = JSON.parse(value) as Document;
    if (data['status'] === 'pending') return [];
    return [observationOf(data, 'event', Number(data['occurredAt']))];
  });
}

function toldByStores(documents: Map<string, StoredDocument[]>, at: number): Observation[] {
  const operations = (documents.get('cards.payments') ?? []).flatMap((payment) => payment['operations'] as Document[]);
  return operations.map((operation) =>
    observationOf({ ...operation, transactionType: operation['type'] }, 'store', at),
  );
}

function observationOf(data: Document, source: Observation['source'], at: number): Observation {
  const { reference, transactionType = 'PAYOUT', status, code, amountE4, baseReference } = data;
  return {
    reference: String(reference),
    askedAt: at,
    toldAt: at,
    source,
    type: String(transactionType),
    status: String(status).toUpperCase(),
    code: Number(code),
    ...(typeof amountE4 === 'number' ? { amountE4 } : {}),
    ...(typeof baseReference === 'string' ? { baseReference } : {}),
  };
}

interface BankRecord {
  reference: string;
  state: BankEntry['state'];
  code?: number;
  at: number;
  request: { operation?: BankOperation; amountE4?: number | null } | null;
  approval?: { amountE4?: number };
}

/** Payout orders have only one operation and do not name it. */
function bankEntry({ _id, record }: StoredDocument): BankEntry {
  const { reference, state, code, at, request, approval } = record as BankRecord;
  const amountE4 = approval?.amountE4 ?? request?.amountE4;
  return {
    key: _id,
    reference,
    state,
    at,
    ...(request === null ? {} : { operation: request.operation ?? 'payout' }),
    ...(code === undefined ? {} : { code }),
    ...(amountE4 == null ? {} : { amountE4 }),
  };
}

const GROUPS: Record<string, readonly TopicName[]> = {
  'card-processing': ['cardCommands', 'cardExpiries', 'threedsEvents'],
  threeds: ['threedsCommands'],
  payout: ['payoutCommands'],
  'auth-expiry': ['cardEvents'],
  'callback-dispatcher': ['cardEvents', 'payoutEvents'],
};

const LAG_LOOKS = 5;
const LAG_LOOK_EVERY_MS = 2_000;

/** A coordinator that has just moved may fail to answer for some seconds. */
async function lagsThatStay(space: Space): Promise<GroupLag[]> {
  for (let look = 1; look < LAG_LOOKS; look += 1) {
    const lags = await fetchLags(space).catch(() => undefined);
    if (lags?.every(({ lag }) => lag === 0) === true) return lags;
    await pause(LAG_LOOK_EVERY_MS);
  }
  return fetchLags(space);
}

/** How far each group is behind in what it reads. Edges commit nothing. */
export async function fetchLags(space: Space): Promise<GroupLag[]> {
  const admin = kafkaOf(space).admin();
  await admin.connect();
  try {
    const found = Object.entries(GROUPS).map(async ([group, names]) => {
      const full = names.map((name) => topicOf(space.topicPrefix, name));
      const lags = await fetchLag(admin, topicName(space.topicPrefix, group), full);
      return lags.map(({ topic, partition, lag }) => ({ group, topic, partition, lag }));
    });
    return (await Promise.all(found)).flat();
  } finally {
    await admin.disconnect();
  }
}

function readLogs(directory: string): Evidence['logs'] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.log'));
  return files.map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));
}
