import type { CheckoutBus, Checkouts } from './ports';
import type { SubmitPorts } from './submit';

export interface CheckoutPorts extends SubmitPorts {
  bus: CheckoutBus;
  checkouts: Checkouts;
  /** Whether the merchant account may still be used. */
  accountIsOpen(merchantAccount: string): Promise<boolean>;
  checkoutLifetimeMs: number;
  /** How browsers reach the edge, without a slash at its end. */
  publicBaseUrl: string;
}

/** Where the cardholder types the card. */
export function pageUrlOf({ publicBaseUrl }: Pick<CheckoutPorts, 'publicBaseUrl'>, id: string): string {
  return `${publicBaseUrl}/checkout/${id}`;
}
