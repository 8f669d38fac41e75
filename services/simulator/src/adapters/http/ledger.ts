import { formatAmountE4, PAYMENT_ID_LENGTH } from '@gateway/contracts';
import type { LedgerQuery, LedgerSource } from '../../application/ledger';
import { readLedger } from '../../application/ledger';
import type { LedgerEntry } from '../../domain/ledger';
import type { Route } from './listener';
import { HttpProblem, json } from './listener';

const REFERENCE = /^[0-9A-Za-z_-]{1,64}$/;
const PAYMENT_ID = new RegExp(`^[0-9A-Z]{${PAYMENT_ID_LENGTH}}$`);

/** `GET /ledger?reference=…` or `?payment=…`: what the counterparts did, oldest first. */
export function ledgerRoutes(sources: readonly LedgerSource[]): Route[] {
  return [
    {
      method: 'GET',
      path: '/ledger',
      callers: ['api-edge', 'operator'],
      handle: async ({ query }) => {
        const entries = await readLedger(sources, readQuery(query));
        return json(200, { entries: entries.map(shown) });
      },
    },
  ];
}

function readQuery(query: URLSearchParams): LedgerQuery {
  const reference = query.get('reference');
  const paymentId = query.get('payment');
  if (reference !== null && REFERENCE.test(reference)) return { reference };
  if (reference === null && paymentId !== null && PAYMENT_ID.test(paymentId)) return { paymentId };
  throw new HttpProblem(400, 'reference, or payment (16 characters), missing or malformed');
}

function shown({ at, operation, idempotencyKey, reference, amountE4, currency, eci, effect }: LedgerEntry) {
  return {
    at: new Date(at).toISOString(),
    operation,
    idempotencyKey,
    reference,
    // JSON prints the nearest double as the exact decimal.
    amount: amountE4 === null ? null : Number(formatAmountE4(amountE4)),
    currency,
    ...(eci === null ? {} : { eci }),
    effect,
  };
}
