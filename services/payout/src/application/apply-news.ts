import { inTrace } from '@gateway/service-kit';
import { paymentIdOf, RETURN_REASON_LENGTH_MAX } from '@gateway/contracts';
import { decideNews } from '../domain/decide';
import type { BankNews, BankStatement, NewsVerdict } from './bank-ports';
import type { Ports } from './ports';
import { reportContradiction } from './submit-payout';

/** ISO 20022 `narrative`: the reason is in words. */
const NARRATIVE = 'NARR';

/**
 * Applies a bank's own report; repetitions are safe. A bank may only change payouts that were submitted to it. Throws
 * if the result cannot be stored; the bank then has to report it again.
 */
export function applyNews(ports: Ports, bank: string, { reference, outcome: told }: BankNews): Promise<NewsVerdict> {
  const outcome = bounded(told);
  const trace = { name: `apply news of ${bank}`, correlationId: paymentIdOf(reference) };
  return inTrace(ports.tracer, trace, async () => {
    const { stored, rejection } = await ports.handle<Exclude<NewsVerdict, 'applied'>>(reference, (payout) =>
      payout?.bank === bank ? decideNews(payout, outcome, ports.now()) : 'unknown-payout',
    );
    if (rejection === 'unknown-payout') {
      ports.logger.error('a bank reports a payout that it was never given', { reference, bank, told: outcome.kind });
    } else if (rejection === 'contradiction' && stored !== null) {
      reportContradiction(ports, stored);
    }
    return rejection ?? 'applied';
  });
}

/** A reason that is too long for a code could not be told: its event and the merchant's answers would be invalid. */
function bounded(told: BankStatement): BankStatement {
  const isTooLong = told.kind === 'returned' && told.reasonCode.length > RETURN_REASON_LENGTH_MAX;
  return isTooLong ? { ...told, reasonCode: NARRATIVE } : told;
}
