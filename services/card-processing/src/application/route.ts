import type { Account } from '@gateway/accounts';
import { SANDBOX_ACQUIRER, terminalFor } from '@gateway/accounts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { HoldRule } from '../domain/holds';
import { holdOfScheme } from '../domain/holds';
import type { Route } from '../domain/payment';
import type { Rejection } from '../domain/rejections';
import type { Ports } from './ports';

/**
 * The route of an account's AUTH or SALE, by currency and, if the merchant names a terminal, by `mid_reference`. A
 * terminal whose acquirer does not take its currency does not count.
 */
export function routeFor(
  account: Account | undefined,
  request: { currency: string; midReference?: string },
  connector: Ports['connector'],
): Route | Rejection {
  if (account === undefined) return 'no-terminal-for-currency';
  const terminals = account.terminals.filter(
    ({ acquirer, currency }) => connector(acquirer)?.takes(currency) !== false,
  );
  const terminal = terminalFor({ terminals }, request.currency, request.midReference);
  if (terminal === undefined) {
    return request.midReference === undefined ? 'no-terminal-for-currency' : 'terminal-not-active';
  }
  return {
    // On every terminal: XTS never leaves the sandbox.
    acquirer: request.currency === TEST_CURRENCY ? SANDBOX_ACQUIRER : terminal.acquirer,
    midReference: terminal.midReference,
    midId: terminal.midId,
    midName: terminal.name,
    lateVoid: terminal.lateVoid,
    ...(terminal.holdSeconds === undefined ? {} : { holdSeconds: terminal.holdSeconds }),
  };
}

/** A terminal's own hold wins; otherwise the rule for the card's scheme and the initiator applies. */
export function withHold(
  route: Route | Rejection,
  holds: readonly HoldRule[],
  charge: { brand: string; cofType?: string | undefined },
): Route | Rejection {
  if (typeof route === 'string' || route.holdSeconds !== undefined) return route;
  const holdSeconds = holdOfScheme(holds, charge);
  return holdSeconds === undefined ? route : { ...route, holdSeconds };
}
