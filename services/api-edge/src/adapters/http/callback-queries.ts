import { queries } from '@gateway/contracts';
import type { AskOwner } from '@gateway/service-kit';
import type { CallbackQueries } from '../../application/ports';

/** A page of 100 callbacks, each with all custom parameters at generous length. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Asks callback-dispatcher about callbacks. */
export function createCallbackQueries(ask: AskOwner): CallbackQueries {
  const bounds = { answerBytesMax: PAGE_BYTES_MAX };
  return {
    list(account, { payments, ...query }) {
      const of = payments === undefined ? {} : { payment: payments.join(',') };
      return ask(queries.callbacks, { account, ...of, ...query }, bounds);
    },
    events: (account, start, limit) => ask(queries.callbackEvents, { account, ...start, limit }, bounds),
    resend: (account, id) => ask(queries.resendCallback, { account, id }),
  };
}
