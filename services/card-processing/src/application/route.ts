import type { Account } from '@gateway/accounts';
import { terminalFor } from '@gateway/accounts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { HoldRule } from '../domain/holds';
import { holdOfScheme } from '../domain/holds';
import type { Route } from '../domain/payment';
import type { Rejection } from '../domain/rejections';

/** The connector for the test currency, on every terminal: XTS never leaves the sandbox. */
const SANDBOX_ACQUIRER = 'simulator';

/** The route of an account's AUTH or SALE, by currency and, if the merchant names a terminal, by `mid_reference`. */
export function routeFor(
  account: Account | undefined,
  request: { currency: string; midReference?: string },
): Route | Rejection {
  if (account === undefined) return 'no-terminal-for-currency';
  const terminal = terminalFor(account, request.currency, request.midReference);
  if (terminal === undefined) {
    return request.midReference === undefined ? 'no-terminal-for-currency' : 'terminal-not-active';
  }
  return {
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
