import type { TopicRecord } from '../../support/topics';
import type { BankEntry, Evidence, Observation, SentOperation, StoredDocument } from '../model/evidence';
import { NO_EVIDENCE } from '../model/evidence';

export const PAYMENT = 'PAYMENT000000001';
export const REFERENCE = `${PAYMENT}AAAA`;
export const NOW = 1_800_000_000_000;

export function evidence(
  given: Partial<Omit<Evidence, 'documents'>> & { documents?: Record<string, object[]> },
): Evidence {
  const { documents = {}, ...rest } = given;
  const stored = Object.entries(documents).map(([name, found]) => [name, found as StoredDocument[]] as const);
  return { ...NO_EVIDENCE, collectedAt: NOW, ...rest, documents: new Map(stored) };
}

export function told(more: Partial<Observation> = {}): Observation {
  const at = more.toldAt ?? NOW;
  return {
    reference: REFERENCE,
    askedAt: at,
    toldAt: at,
    source: 'answer',
    type: 'SALE',
    status: 'SUCCESS',
    code: 0,
    ...more,
  };
}

export function entry(more: Partial<BankEntry> = {}): BankEntry {
  const reference = more.reference ?? REFERENCE;
  return { key: reference, reference, operation: 'sale', state: 'approved', amountE4: 100_000, at: NOW, ...more };
}

export function sent(more: Partial<SentOperation> = {}): SentOperation {
  return {
    merchant: 'merchant-1',
    space: 'card',
    type: 'SALE',
    uniqueId: 'order-00000001',
    attempts: [{ sentAt: NOW - 100, endedAt: NOW - 50, edge: 0, httpStatus: 200, status: 'success', code: 0 }],
    ...more,
  };
}

export function event(
  version: number,
  more: Partial<TopicRecord> & { id?: string; subject?: string } = {},
): TopicRecord {
  const { id = `event-${version}`, subject = PAYMENT, ...rest } = more;
  return {
    topic: 'card.events.v1',
    partition: 0,
    offset: '0',
    key: PAYMENT,
    value: '{}',
    headers: { ce_id: id, ce_subject: subject, ce_aggregateversion: String(version) },
    ...rest,
  };
}
