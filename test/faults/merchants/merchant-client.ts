import type { AxiosInstance } from 'axios';
import { parseAmountE4 } from '@gateway/contracts';
import { messageOf } from '@gateway/service-kit';
import type { Attempt, SentOperation } from '../model/evidence';
import type { Random } from '../random';
import type { Answer } from './answers';
import { isStarted, statusOf } from './answers';
import type { Notebook } from './notebook';
import type { Fields } from './requests';

const CARD_PATH = '/api/pf/host-to-host';
const PAYOUT_PATH = '/api/mp/payout';
const PAYOUT_CHECK_PATH = '/api/mp/transaction';

const ATTEMPTS_MAX = 6;
const RETRY_PAUSE_MS = 400;
const ID_USED = 3001;
const NOT_FOUND = 3014;
/** CHECK could not ask the owner of the payment. It says nothing about the outcome. */
const OWNER_SILENT = 10;

export interface SendOptions {
  baseReference?: string;
  /** Send to both edges at once, with an Idempotency-Key. */
  twice?: boolean;
}

/** One merchant's client. Records every request and answer. */
export interface MerchantClient {
  readonly merchant: string;
  /** Sends until an answer arrives. Undefined if there is none, or none about the operation. */
  send(type: string, fields: Fields, options?: SendOptions): Promise<Answer | undefined>;
  pay(fields: Fields): Promise<Answer | undefined>;
  check(operation: SentOperation): Promise<Answer | undefined>;
}

export interface MerchantClientOptions {
  merchant: string;
  password: string;
  /** One client for each edge replica. */
  edges: readonly AxiosInstance[];
  random: Random;
  notebook: Notebook;
  /** Id of the run, so that unique ids do not repeat across runs. */
  runId: string;
}

export function createMerchantClient(options: MerchantClientOptions): MerchantClient {
  const { merchant, edges, random, notebook } = options;
  const credentials = { api_version: 1, merchant_account: merchant, merchant_password: options.password };
  let count = 0;

  function begin(space: SentOperation['space'], type: string, fields: Fields, more: SendOptions): SentOperation {
    count += 1;
    const amountE4 = typeof fields['amount'] === 'string' ? parseAmountE4(fields['amount']) : undefined;
    const operation: SentOperation = {
      merchant,
      space,
      type,
      uniqueId: `${options.runId}-${merchant}-${count}`,
      attempts: [],
      ...(amountE4 === undefined ? {} : { amountE4 }),
      ...(more.baseReference === undefined ? {} : { baseReference: more.baseReference }),
    };
    notebook.operations.push(operation);
    return operation;
  }

  /** One request at one edge. */
  async function attempt(
    path: string,
    body: Fields,
    headers: Record<string, string>,
    edge: number,
  ): Promise<{ attempt: Attempt; answer?: Answer }> {
    const sentAt = Date.now();
    try {
      const client = edges[edge % edges.length] as AxiosInstance;
      const { status, data } = await client.post<Answer>(path, body, { headers });
      const { status: outcome, code, message = '' } = data;
      const done = { sentAt, endedAt: Date.now(), edge, httpStatus: status, status: outcome, code, message };
      return { attempt: done, ...(status === 200 ? { answer: data } : {}) };
    } catch (error) {
      return { attempt: { sentAt, endedAt: Date.now(), edge, lost: messageOf(error) } };
    }
  }

  /** Retries a rejected or unanswered request at the other edge, with the same id. */
  async function persist(
    operation: SentOperation,
    path: string,
    body: Fields,
    twice: boolean,
  ): Promise<Answer | undefined> {
    const withKey: Record<string, string> =
      twice || random.chance(0.5) ? { 'idempotency-key': operation.uniqueId } : {};
    let edge = random.int(0, edges.length - 1);
    for (let tries = 0; tries < ATTEMPTS_MAX; tries += 1) {
      const both = twice && tries === 0 ? [edge, edge + 1] : [edge];
      const ends = await Promise.all(both.map((one) => attempt(path, body, withKey, one)));
      operation.attempts.push(...ends.map((end) => end.attempt));
      for (const { attempt: made, answer } of ends) if (answer !== undefined) note(operation, made, answer);
      const answers = ends.flatMap(({ answer }) => answer ?? []);
      const accepted = answers.find(({ reference }) => reference !== undefined);
      if (accepted !== undefined) return accepted;
      if (answers.some(({ code }) => code === ID_USED)) return learn(operation);
      if (answers.length > 0) return undefined;
      edge += 1;
      await pause(RETRY_PAUSE_MS * (tries + 1));
    }
    return undefined;
  }

  /** A repeated request gets the answer to the first one, even if the outcome has changed since. */
  function note(operation: SentOperation, made: Attempt, answer: Answer): void {
    const { reference, code } = answer;
    if (reference === undefined) return;
    const askedAt = Math.min(...operation.attempts.map(({ sentAt }) => sentAt));
    operation.reference ??= reference;
    if (operation.type === 'SALE3D' && isStarted(answer)) operation.awaitsCallback = true;
    const { type, amountE4, baseReference } = operation;
    const status = operation.space === 'payout' && answer.status === 'pending' ? 'PENDING' : statusOf(answer);
    if (status === 'SUCCESS' && operation.space === 'card') notebook.approvals.push(made.endedAt);
    notebook.observations.push({
      reference,
      askedAt,
      toldAt: made.endedAt,
      source: 'answer',
      type,
      status,
      code,
      ...(amountE4 === undefined ? {} : { amountE4 }),
      ...(baseReference === undefined ? {} : { baseReference }),
    });
  }

  /** The first answer was lost and the id is used, so CHECK gives the outcome. */
  async function learn(operation: SentOperation): Promise<Answer | undefined> {
    const checked = await check(operation);
    const found = checked?.transactions?.[0];
    if (found === undefined) return undefined;
    operation.reference ??= found.reference;
    return { status: found.status.toLowerCase(), code: found.code, reference: found.reference };
  }

  async function check({ uniqueId, space, type }: SentOperation): Promise<Answer | undefined> {
    const body = { ...credentials, transaction_type: 'CHECK', transaction_unique_id: uniqueId };
    const path = space === 'card' ? CARD_PATH : PAYOUT_CHECK_PATH;
    const { attempt: made, answer } = await attempt(path, body, {}, random.int(0, edges.length - 1));
    if (answer === undefined || answer.code === OWNER_SILENT) return undefined;
    if (answer.code === NOT_FOUND) notebook.denials.push({ merchant, uniqueId, askedAt: made.sentAt });
    for (const [index, found] of (answer.transactions ?? []).entries()) {
      notebook.observations.push({
        reference: found.reference,
        askedAt: made.sentAt,
        toldAt: made.endedAt,
        source: 'check',
        type: space === 'payout' ? 'PAYOUT' : (found.transaction_type ?? (index === 0 ? type : '')),
        status: found.status,
        code: found.code,
      });
    }
    return answer;
  }

  return {
    merchant,
    check,
    async send(type, fields, more = {}) {
      const operation = begin('card', type, fields, more);
      const body = { ...credentials, ...fields, transaction_type: type, transaction_unique_id: operation.uniqueId };
      const answer = await persist(operation, CARD_PATH, body, more.twice === true);
      // CHECK must confirm the answer.
      if (answer?.status === 'success' && random.chance(0.3)) await check(operation);
      return answer;
    },
    async pay(fields) {
      const operation = begin('payout', 'PAYOUT', fields, {});
      const body = { ...credentials, ...fields, transaction_unique_id: operation.uniqueId };
      const answer = await persist(operation, PAYOUT_PATH, body, random.chance(0.2));
      if (answer?.status === 'pending') operation.awaitsCallback = true;
      return answer;
    },
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
