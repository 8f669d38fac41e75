/**
 * Commands of one payment that may be on their way at once, from this replica. card-processing handles them one after the
 * other, and commands of other payments wait behind them in the same partition.
 */
const ON_THEIR_WAY_MAX = 16;

export interface PaymentTurns {
  /**
   * Publishes when it is the payment's turn, in order of arrival. The turn ends with `over`, which every request reaches
   * at its deadline at the latest; one that is over before its turn is not published.
   */
  publish(paymentId: string, publish: () => Promise<void>, over: Promise<unknown>): void;
  /** Payments with a command on its way. */
  readonly size: number;
}

interface Payment {
  onTheirWay: number;
  readonly waiting: Set<() => void>;
}

export function createPaymentTurns(): PaymentTurns {
  const payments = new Map<string, Payment>();

  function begin(paymentId: string, payment: Payment, publish: () => Promise<void>, over: Promise<unknown>): void {
    payment.onTheirWay += 1;
    void publish();
    const end = (): void => {
      payment.onTheirWay -= 1;
      const [next] = payment.waiting;
      if (next !== undefined) next();
      else if (payment.onTheirWay === 0) payments.delete(paymentId);
    };
    void over.then(end, end);
  }

  return {
    publish(paymentId, publish, over) {
      const payment = payments.get(paymentId) ?? { onTheirWay: 0, waiting: new Set() };
      payments.set(paymentId, payment);
      if (payment.onTheirWay < ON_THEIR_WAY_MAX) return begin(paymentId, payment, publish, over);
      const take = (): void => {
        payment.waiting.delete(take);
        begin(paymentId, payment, publish, over);
      };
      payment.waiting.add(take);
      const leave = (): void => void payment.waiting.delete(take);
      void over.then(leave, leave);
    },
    get size() {
      return payments.size;
    },
  };
}
