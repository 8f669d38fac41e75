import { assertNever } from '@gateway/service-kit';
import { cancel } from '../../application/acquirer/cancel';
import { inquire } from '../../application/acquirer/inquire';
import { performOperation } from '../../application/acquirer/perform-operation';
import type { AcquirerPorts } from '../../application/acquirer/ports';
import type { Reaction } from '../../domain/acquirer/decide';
import { readKey, readOperation } from './acquirer-request';
import type { HttpAnswer, HttpRequest, Route } from './listener';
import { json } from './listener';

/** Told about every answer, for the figures: what was asked, and how it was answered. */
export type OnAnswer = (labels: { operation: string; answer: string }) => void;

/** The acquirer's API: operations, inquiry and cancellation by idempotency key. */
export function acquirerRoutes(ports: AcquirerPorts, onAnswer: OnAnswer): Route[] {
  return [
    { method: 'POST', path: '/acquirer/v1/operations', handle: (request) => perform(ports, onAnswer, request) },
    {
      method: 'GET',
      path: '/acquirer/v1/operations/:key',
      handle: async ({ params }) => {
        const { answer, afterwards } = await inquire(ports, readKey(params['key']));
        onAnswer({ operation: 'inquire', answer: answer.status });
        return { kind: 'json', status: 200, body: answer, ...(afterwards === undefined ? {} : { afterwards }) };
      },
    },
    {
      method: 'POST',
      path: '/acquirer/v1/operations/:key/cancel',
      handle: async ({ params }) => {
        const answer = await cancel(ports, readKey(params['key']));
        onAnswer({ operation: 'cancel', answer: answer.status });
        return json(200, answer);
      },
    },
  ];
}

async function perform(ports: AcquirerPorts, onAnswer: OnAnswer, request: HttpRequest): Promise<HttpAnswer> {
  const key = readKey(request.header('idempotency-key'));
  const operation = readOperation(key, await request.json());
  const reaction = await performOperation(ports, operation);
  onAnswer({
    operation: operation.operation,
    answer: reaction.kind === 'answer' ? reaction.result.result : reaction.kind,
  });
  return answerOf(reaction);
}

function answerOf(reaction: Reaction): HttpAnswer {
  switch (reaction.kind) {
    case 'answer':
      return json(200, reaction.result);
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
      return json(500, { error: 'acquirer internal error' });
    default:
      return assertNever(reaction);
  }
}
