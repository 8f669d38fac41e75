import { isCurrency, parseAmountE4, TEST_CURRENCY } from '@gateway/contracts';
import type { CallerKind } from '@gateway/service-kit';
import { assertNever } from '@gateway/service-kit';
import type { KeyedPorts } from '../../application/keyed';
import { cancel, inquire } from '../../application/keyed';
import type { CancellationAnswer, InquiryAnswer, KeyedRequest, OutcomeRecord, Reaction } from '../../domain/keyed';
import type { HttpAnswer, Route } from './listener';
import { HttpProblem, json } from './listener';

/** Counts every answer by operation and kind. */
export type OnAnswer = (labels: { operation: string; answer: string }) => void;

/** True for a currency that the simulator may take. */
export type Takes = (currency: string) => boolean;

/** What differs between the APIs of two counterparts. */
export interface KeyedApi<Request extends KeyedRequest, Approval> {
  /** Where requests are posted, e.g. `/acquirer/v1/operations`. */
  path: string;
  callers: readonly CallerKind[];
  ports: KeyedPorts<Request, Approval>;
  /** Requests in other currencies are refused and leave no trace. */
  takes: Takes;
  onAnswer: OnAnswer;
  /** Throws a 400 for a malformed body. */
  read(idempotencyKey: string, body: unknown): Request;
  /** The request's name in the metrics. */
  operationOf(request: Request): string;
  perform(request: Request): Promise<Reaction<Request, Approval>>;
  resultOf(record: OutcomeRecord<Request, Approval>): { result: string };
  inquiryAnswer(answer: InquiryAnswer<Request, Approval>): { status: string };
  cancellationAnswer(answer: CancellationAnswer<Request, Approval>): { status: string };
}

/** Requests, inquiry and cancellation by idempotency key. */
export function keyedRoutes<R extends KeyedRequest, A>(api: KeyedApi<R, A>): Route[] {
  const { path, callers, ports, onAnswer } = api;
  return [
    {
      method: 'POST',
      path,
      callers,
      handle: async (request) => {
        const key = readKey(request.header('idempotency-key'));
        const asked = api.read(key, await request.json());
        if (asked.currency !== null && !api.takes(asked.currency)) {
          throw new HttpProblem(422, `the simulator takes ${TEST_CURRENCY} alone`);
        }
        const reaction = await api.perform(asked);
        const answer = reaction.kind === 'outcome' ? api.resultOf(reaction.record).result : reaction.kind;
        onAnswer({ operation: api.operationOf(asked), answer });
        return answerOf(reaction, api);
      },
    },
    {
      method: 'GET',
      path: `${path}/:key`,
      callers,
      handle: async ({ params }) => {
        const { answer, afterwards } = await inquire(ports, readKey(params['key']));
        const body = api.inquiryAnswer(answer);
        onAnswer({ operation: 'inquire', answer: body.status });
        return { kind: 'json', status: 200, body, ...(afterwards === undefined ? {} : { afterwards }) };
      },
    },
    {
      method: 'POST',
      path: `${path}/:key/cancel`,
      callers,
      handle: async ({ params }) => {
        const body = api.cancellationAnswer(await cancel(ports, readKey(params['key'])));
        onAnswer({ operation: 'cancel', answer: body.status });
        return json(200, body);
      },
    },
  ];
}

function answerOf<R extends KeyedRequest, A>(
  reaction: Reaction<R, A>,
  { resultOf }: Pick<KeyedApi<R, A>, 'resultOf'>,
): HttpAnswer {
  switch (reaction.kind) {
    case 'outcome':
      return json(200, resultOf(reaction.record));
    case 'unknown':
      return json(200, { result: 'unknown' });
    case 'other-request':
      return json(409, { error: 'idempotency key used with another request' });
    case 'cancelled':
      return json(410, { error: 'cancelled' });
    case 'silence':
      return { kind: 'silence' };
    case 'garbage':
      return { kind: 'text', status: 200, body: '<<< not what was asked for' };
    case 'dropped-connection':
      return { kind: 'drop-connection' };
    case 'failure':
      return json(500, { error: 'bank internal error' });
    default:
      return assertNever(reaction);
  }
}

const KEY = /^[0-9A-Za-z_-]{1,64}$/;
const TEXT_MAX_LENGTH = 255;

/** 1 to 64 of `[0-9A-Za-z_-]`; throws a 400 for anything else. */
export function readKey(value: string | undefined): string {
  if (value === undefined || !KEY.test(value)) throw new HttpProblem(400, 'idempotency key missing or malformed');
  return value;
}

/** Throws a 400 for anything but a JSON object. */
export function readObject(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) throw new HttpProblem(400, 'body is not an object');
  return body;
}

export function readReference(value: unknown): string | undefined {
  return typeof value === 'string' && KEY.test(value) ? value : undefined;
}

/** Only a decimal string: a JSON number may have been rounded on its way. */
export function readAmount(value: unknown): number | undefined {
  return typeof value === 'string' ? parseAmountE4(value) : undefined;
}

export function readCurrency(value: unknown): string | undefined {
  return typeof value === 'string' && isCurrency(value) ? value : undefined;
}

/** Null if absent; throws a 400 for anything but a string of 1 to 255 characters. */
export function readText(field: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX_LENGTH) return value;
  throw new HttpProblem(400, `${field} malformed`);
}

/** Throws a 400 that names the field, never its value. */
export function required<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new HttpProblem(400, `${field} missing or malformed`);
  return value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
