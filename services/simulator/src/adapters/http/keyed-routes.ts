import { assertNever } from '@gateway/service-kit';
import { cancel } from '../../application/keyed/cancel';
import { inquire } from '../../application/keyed/inquire';
import type { KeyedPorts } from '../../application/keyed/ports';
import type { Reaction } from '../../domain/keyed/behave';
import type { CancellationAnswer } from '../../domain/keyed/cancellation';
import type { InquiryAnswer } from '../../domain/keyed/inquiry';
import type { KeyedRequest, OutcomeRecord } from '../../domain/keyed/record';
import type { HttpAnswer, Route } from './listener';
import { json } from './listener';
import { readKey } from './request-fields';

/** Told about every answer, for the figures: what was asked, and how it was answered. */
export type OnAnswer = (labels: { operation: string; answer: string }) => void;

/** How one counterpart is spoken to: all that differs from another one's API. */
export interface KeyedApi<Request extends KeyedRequest, Approval> {
  /** Where requests are posted, e.g. `/acquirer/v1/operations`. */
  path: string;
  ports: KeyedPorts<Request, Approval>;
  onAnswer: OnAnswer;
  /** Throws a 400 for what it does not take. */
  read(idempotencyKey: string, body: unknown): Request;
  /** What a request is called in the figures. */
  operationOf(request: Request): string;
  perform(request: Request): Promise<Reaction<Request, Approval>>;
  resultOf(record: OutcomeRecord<Request, Approval>): { result: string };
  inquiryAnswer(answer: InquiryAnswer<Request, Approval>): { status: string };
  cancellationAnswer(answer: CancellationAnswer<Request, Approval>): { status: string };
}

/** Requests, inquiry and cancellation by idempotency key. */
export function keyedRoutes<R extends KeyedRequest, A>(api: KeyedApi<R, A>): Route[] {
  const { path, ports, onAnswer } = api;
  return [
    {
      method: 'POST',
      path,
      handle: async (request) => {
        const key = readKey(request.header('idempotency-key'));
        const asked = api.read(key, await request.json());
        const reaction = await api.perform(asked);
        const answer = reaction.kind === 'outcome' ? api.resultOf(reaction.record).result : reaction.kind;
        onAnswer({ operation: api.operationOf(asked), answer });
        return answerOf(reaction, api);
      },
    },
    {
      method: 'GET',
      path: `${path}/:key`,
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
