import type { BankPorts } from '../../application/bank';
import { payOut, returnPayout } from '../../application/bank';
import type { MaskedAccount, PayoutOrder } from '../../domain/bank';
import { maskedAccount, payoutResultOf, payoutStatusOf } from '../../domain/bank';
import type { OnAnswer, Takes } from './keyed';
import { isRecord, keyedRoutes, readAmount, readCurrency, readKey, readObject, readText, required } from './keyed';
import type { Route } from './listener';
import { HttpProblem, json } from './listener';

const PAYOUTS = '/bank/v1/payouts';
const RETURNS = '/bank/v1/returns';
const CALLERS = ['payout', 'operator'] as const;
/** ISO 13616. The gateway verifies the check digits. */
const IBAN = /^[A-Z]{2}\d{2}[0-9A-Z]{11,30}$/;
/** ISO 9362. */
const BIC = /^[A-Z0-9]{8}(?:[A-Z0-9]{3})?$/;
const REASON_CODE = /^[A-Z0-9]{1,35}$/;
const LIMIT = /^[1-9]\d{0,3}$/;
const LIMIT_MAX = 1000;
const LIMIT_DEFAULT = 100;

/** The SEPA bank's API: payouts, inquiry and cancellation by idempotency key, and returns. */
export function bankRoutes(ports: BankPorts, takes: Takes, onAnswer: OnAnswer): Route[] {
  return [
    ...keyedRoutes({
      path: PAYOUTS,
      callers: CALLERS,
      ports,
      takes,
      onAnswer,
      read: readPayout,
      operationOf: () => 'payout',
      perform: (order) => payOut(ports, order),
      resultOf: payoutResultOf,
      inquiryAnswer: payoutStatusOf,
      cancellationAnswer: payoutStatusOf,
    }),
    ...returnRoutes(ports, onAnswer),
  ];
}

function returnRoutes(ports: BankPorts, onAnswer: OnAnswer): Route[] {
  return [
    {
      method: 'POST',
      path: `${PAYOUTS}/:key/return`,
      // A switch for tests: no service uses it.
      callers: ['operator'],
      handle: async (request) => {
        const key = readKey(request.params['key']);
        const returned = await returnPayout(ports, key, readReasonCode(await request.json()));
        onAnswer({ operation: 'return', answer: returned ? 'returned' : 'not-settled' });
        return returned ? json(200, { status: 'returned' }) : json(409, { error: 'not settled' });
      },
    },
    {
      method: 'GET',
      path: RETURNS,
      callers: CALLERS,
      handle: async ({ query }) => {
        const returns = await ports.returns.unacknowledged(readLimit(query));
        return json(200, { returns: returns.map(({ reference, reasonCode, at }) => ({ reference, reasonCode, at })) });
      },
    },
    {
      method: 'POST',
      path: `${RETURNS}/:key/acknowledgement`,
      callers: CALLERS,
      handle: async ({ params }) => {
        if (await ports.returns.acknowledge(readKey(params['key']))) return { kind: 'no-content' };
        throw new HttpProblem(404, 'nothing came back');
      },
    },
  ];
}

/**
 * Reads a payout and drops what the bank does not keep: the creditor's name, most of the IBAN, the description. Throws
 * a 400 that names the first invalid field, never its value.
 */
function readPayout(idempotencyKey: string, json: unknown): PayoutOrder {
  const body = readObject(json);
  if (body['reference'] !== idempotencyKey) throw new HttpProblem(400, 'reference is not the idempotency key');
  readText('description', body['description']);
  return {
    idempotencyKey,
    reference: idempotencyKey,
    amountE4: required('amount', readAmount(body['amount'])),
    currency: required('currency', readCurrency(body['currency'])),
    instant: required('instant', readFlag(body['instant'])),
    creditor: required('creditor', readCreditor(body['creditor'])),
  };
}

function readFlag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function readCreditor(value: unknown): MaskedAccount | undefined {
  if (!isRecord(value)) return undefined;
  const { name, iban, bic } = value;
  required('creditor.name', readText('creditor.name', name) ?? undefined);
  const namesBank = bic !== undefined && bic !== null;
  if (namesBank && !(typeof bic === 'string' && BIC.test(bic))) throw new HttpProblem(400, 'creditor.bic malformed');
  if (typeof iban !== 'string' || !IBAN.test(iban)) throw new HttpProblem(400, 'creditor.iban missing or malformed');
  return maskedAccount(iban);
}

/** Why money comes back: 1 to 35 of `[A-Z0-9]`; throws a 400 for anything else. */
function readReasonCode(json: unknown): string {
  const { reasonCode } = readObject(json);
  if (typeof reasonCode === 'string' && REASON_CODE.test(reasonCode)) return reasonCode;
  throw new HttpProblem(400, 'reasonCode missing or malformed');
}

/** 1 to 1000, 100 by default; throws a 400 for anything else. */
function readLimit(query: URLSearchParams): number {
  const limit = query.get('limit') ?? String(LIMIT_DEFAULT);
  if (LIMIT.test(limit) && Number(limit) <= LIMIT_MAX) return Number(limit);
  throw new HttpProblem(400, 'limit malformed');
}
