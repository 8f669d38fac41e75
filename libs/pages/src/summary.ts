import type { Html } from './html';
import { html } from './html';
import type { Locale } from './locale';

export interface Purchase {
  /** The name that cardholders know the merchant by. */
  merchant: string;
  amountE4: number;
  /** ISO 4217 alpha-3. */
  currency: string;
  /** What the merchant calls it. */
  order?: string | undefined;
  /** Masked: at most the last digits. */
  card?: string;
}

/** Amount, merchant and card: on every page, so that cardholders see what they confirm. */
export function summary({ texts, amount }: Locale, { merchant, amountE4, currency, order, card }: Purchase): Html {
  const labels = texts.purchase;
  return html`<dl class="summary">
    <dt>${labels.merchant}</dt>
    <dd>${merchant}</dd>
    ${
      order !== undefined &&
      html`<dt>${labels.order}</dt>
        <dd>${order}</dd>`
    }
    ${
      card !== undefined &&
      html`<dt>${labels.card}</dt>
        <dd>${card}</dd>`
    }
    <dt>${labels.amount}</dt>
    <dd class="total">${amount(amountE4, currency)}</dd>
  </dl>`;
}
