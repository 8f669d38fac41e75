import type { Slot } from '@gateway/service-kit';
import type { AnnouncingBus, CheckoutBus, Checkouts } from './ports';
import type { SubmitPorts } from './submit';

/** What pages show of a merchant. */
export interface ShownMerchant {
  name: string;
  /** A PNG in base64. */
  logo: string | undefined;
}

export interface CheckoutPorts extends SubmitPorts {
  bus: CheckoutBus & AnnouncingBus;
  checkouts: Checkouts;
  /** True while the merchant account may be used. */
  accountIsOpen(merchantAccount: string): Promise<boolean>;
  /** What cardholders know the merchant by. */
  merchant(merchantAccount: string): Promise<ShownMerchant>;
  /** A slot for a request to a page of the account; undefined when its share, or every slot, is taken. */
  takePageSlot(merchantAccount: string): Promise<Slot | undefined>;
  checkoutLifetimeMs: number;
  /**
   * From an attempt's last look at the clock until it is in the journal. Longer only if the database is away: then it
   * is recorded late, and never carried out.
   */
  attemptMaxMs: number;
  /** Base URL at which browsers reach the edge, without a slash at its end. */
  publicBaseUrl: string;
}

/** The address of the card-entry page. */
export function pageUrlOf({ publicBaseUrl }: Pick<CheckoutPorts, 'publicBaseUrl'>, id: string): string {
  return `${publicBaseUrl}/checkout/${id}`;
}
