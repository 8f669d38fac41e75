import type { AxiosResponse } from 'axios';
import type { Body } from '../support/system';

const EVERY_MS = 1_000;

export interface Payment {
  readonly path: string;
  readonly fields: Body;
  /** Signs its callback. A payment without it has none. */
  readonly callbackSecret?: string;
}

/** A payment that has ended: status and code of its answer, or why there was none. */
export interface Paid extends Payment {
  readonly result: string;
  readonly reference: string;
  readonly durationMs: number;
}

export interface Traffic {
  /** Payments that have ended. */
  readonly paid: readonly Paid[];
  /** Begins no more payments, and resolves when all have ended. */
  stop(): Promise<readonly Paid[]>;
}

/** One payment a second, whatever becomes of the others. None is repeated. */
export function startTraffic(
  next: () => Payment,
  pay: (payment: Payment) => Promise<Pick<AxiosResponse<Body>, 'status' | 'data'>>,
): Traffic {
  const paid: Paid[] = [];
  const underWay: Promise<void>[] = [];

  async function begin(): Promise<void> {
    const payment = next();
    const begunMs = Date.now();
    const answer = await pay(payment).then(
      ({ status, data }) => ({ result: `${status} ${String(data['code'])}`, reference: String(data['reference']) }),
      (error: unknown) => ({ result: String(error), reference: '' }),
    );
    paid.push({ ...payment, ...answer, durationMs: Date.now() - begunMs });
  }

  const timer = setInterval(() => underWay.push(begin()), EVERY_MS);
  return {
    paid,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      return paid;
    },
  };
}
