import { createHash } from 'node:crypto';
import { maskCardNumbers } from '@gateway/contracts';
import type { Action } from './actions';
import { AUDITED } from './actions';

/** Who acts: the name of an identity, and the machine or address that the action comes from. */
export interface Operator {
  readonly name: string;
  readonly from: string;
}

/**
 * `intent` comes before the action, `done` and `failed` after it. An intent without an outcome is under way, or its
 * process died: it may have taken effect. So may an action that failed.
 */
export const PHASES = ['intent', 'done', 'failed'] as const;
export type Phase = (typeof PHASES)[number];

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
type Fields = Readonly<Record<string, Json>>;

/** One line of the log, before it has its place in it. */
export interface Draft {
  readonly operator: string;
  readonly from: string;
  /** Whom MongoDB has authenticated: a command line cannot choose it as it can its identity. Absent without authentication. */
  readonly databaseUser?: string;
  readonly action: Action;
  /** The account, payout, message, … that the action is about. */
  readonly subject: string;
  readonly phase: Phase;
  /** Of an outcome: the sequence number of its intent. */
  readonly intent?: number;
  readonly before?: Fields;
  readonly after?: Fields;
}

/** Its place in the log: the hash covers the one of the entry before it. */
export interface Link {
  /** From 1, without gaps. */
  readonly sequence: number;
  /** Epoch ms by the database's clock; never earlier than the entry before it. */
  readonly at: number;
  /** When the entry before it was made; absent in the first one. */
  readonly previousAt?: number;
  readonly previousHash: string;
}

export type Entry = Draft & Link & { readonly hash: string };

/** The message of each log line that anchors an entry, whoever writes it. */
export const ANCHOR_MESSAGE = 'audited';
/** Stands where the first entry has the hash of the one before it. */
export const GENESIS_HASH = '0'.repeat(64);
/** A longer value is stored as its length and hash. */
const FIELD_LENGTH_MAX = 16_384;
const NAME_LENGTH_MAX = 128;

/** The entry that follows `head`, or the first one. `now` is epoch ms. */
export function chained(head: Entry | undefined, draft: Draft, now: number): Entry {
  const link: Link =
    head === undefined
      ? { sequence: 1, at: now, previousHash: GENESIS_HASH }
      : {
          sequence: head.sequence + 1,
          at: Math.max(now, head.at),
          previousAt: head.at,
          previousHash: head.hash,
        };
  const unsigned = { ...(wellFormed({ ...draft }) as Draft), ...link };
  return { ...unsigned, hash: hashOf(unsigned) };
}

/** SHA-256, in hex, over the canonical JSON of everything but the hash itself. */
export function hashOf(entry: Draft & Link & { readonly hash?: string }): string {
  const { hash: _hash, ...content } = entry;
  return sha256(canonicalJson(content));
}

/**
 * RFC 8785: `JSON.stringify` writes numbers and strings as it requires; only the order of the names is missing. Absent
 * and undefined are the same.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/**
 * Names can come from a command line or a path. So they are bounded, no card number survives, and nothing that could
 * break or reorder a line of the list.
 */
export function recordableName(name: string): string {
  return maskCardNumbers(name.replace(/[^\x20-\x7e]/gu, '?')).slice(0, NAME_LENGTH_MAX);
}

/** The database replaces half a surrogate pair, after which the hash would be wrong for ever. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name.toWellFormed(), wellFormed(part)]));
}

/** The fields that the action's entries may hold, as JSON, card numbers masked. All others are dropped. */
export function recordable(action: Action, given: Readonly<Record<string, unknown>>): Fields {
  const kept: Record<string, Json> = {};
  for (const name of AUDITED[action]) {
    if (given[name] !== undefined) kept[name] = bounded(canonicalJson(given[name]));
  }
  return kept;
}

/** The fields of `after` that are new or different. */
export function changesIn(before: Fields | undefined, after: Fields): Fields {
  const isChanged = ([name, value]: [string, Json]) => canonicalJson(before?.[name]) !== canonicalJson(value);
  return Object.fromEntries(Object.entries(after).filter(isChanged));
}

function bounded(json: string): Json {
  if (json.length > FIELD_LENGTH_MAX) return `${json.length} characters, SHA-256 ${sha256(json)}`;
  return JSON.parse(json, (_name, part: unknown) => (typeof part === 'string' ? maskCardNumbers(part) : part)) as Json;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
