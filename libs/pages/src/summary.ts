import { formatAmountE4 } from '@gateway/contracts';
import type { Html } from './html';
import { html } from './html';

export interface Purchase {
  merchant: string;
  amountE4: number;
  /** ISO 4217 alpha-3. */
  currency: string;
  /** Masked: at most the last digits. */
  card?: string;
}

/** Amount, merchant and card: on every page, so that cardholders see what they confirm. */
export function summary({ merchant, amountE4, currency, card }: Purchase): Html {
  return html`<dl class="summary">
    <dt>Merchant</dt>
    <dd>${merchant}</dd>
    ${
      card !== undefined &&
      html`<dt>Card</dt>
        <dd>${card}</dd>`
    }
    <dt>Amount</dt>
    <dd class="total">${displayedAmount(amountE4, currency)}</dd>
  </dl>`;
}

const USUAL_DECIMALS = 2;

/** `1,234.50 EUR`: at least two decimals, more if the amount has more. */
export function displayedAmount(amountE4: number, currency: string): string {
  const [whole = '', fraction = ''] = formatAmountE4(amountE4).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${grouped}.${fraction.padEnd(USUAL_DECIMALS, '0')} ${currency}`;
}
