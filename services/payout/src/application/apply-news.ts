import { newTraceparent, runWithTrace, untilWritten } from '@gateway/service-kit';
import { paymentIdOf } from '@gateway/contracts';
import { decideNews } from '../domain/decide';
import type { BankNews, NewsVerdict } from './bank-ports';
import type { Ports } from './ports';
import { record } from './record';
import { attentionAfter, reportContradiction } from './submit-payout';

/**
 * What a bank tells by itself: applied to its payout, whenever and however often it comes. A bank has a say in its own
 * payouts only. Throws when it could not be stored: then it has to be told again.
 */
export function applyNews(ports: Ports, bank: string, news: BankNews): Promise<NewsVerdict> {
  const { reference } = news;
  return runWithTrace({ correlationId: paymentIdOf(reference), traceparent: newTraceparent() }, () =>
    untilWritten(() => applyOnce(ports, bank, news)),
  );
}

async function applyOnce(ports: Ports, bank: string, news: BankNews): Promise<NewsVerdict | undefined> {
  const { reference, outcome } = news;
  const payout = await ports.payouts.load(reference);
  if (payout === null || payout.bank !== bank) {
    ports.logger.error('a bank tells of a payout that it was never given', { reference, bank, told: outcome.kind });
    return 'unknown-payout';
  }
  const events = decideNews(payout, outcome);
  if (events === 'contradiction') {
    reportContradiction(ports, payout);
    return 'contradiction';
  }
  if (events.length === 0) return 'applied';
  const stored = await record(ports, payout, events, attentionAfter(ports, events));
  if (stored === undefined) return undefined;
  ports.publishEvents(stored);
  return 'applied';
}
