import { CHECKOUT_ATTEMPTS_MAX } from '@gateway/contracts';
import type { Html, RenderedPage } from '@gateway/pages';
import { displayedAmount, html, renderPage, summary } from '@gateway/pages';
import type { PageAnswer } from '../../application/checkout-page';
import type { Checkout } from '../../application/ports';
import type { CardFormField, CardFormProblem } from '../../domain/card-form';

type FormAnswer = Extract<PageAnswer, { kind: 'form' }>;

const REFRESH_SECONDS = 2;

interface FieldTexts {
  label: string;
  hint?: string;
  missing: string;
  invalid: string;
  /** Hints for browsers, keyboards and password managers. `pattern` accepts everything that the server can parse. */
  attributes: Html;
}

const FIELDS: Readonly<Record<CardFormField, FieldTexts>> = {
  card_number: {
    label: 'Card number',
    missing: 'Enter the card number.',
    invalid: 'Check the card number. It is the long number on the card.',
    attributes: html`class="digits" autocomplete="cc-number" inputmode="numeric" maxlength="23" pattern="[0-9
    \\-]{13,23}" placeholder="1234 1234 1234 1234"`,
  },
  card_exp: {
    label: 'Expiry date',
    hint: 'Month and year, MM / YY',
    missing: 'Enter the expiry date.',
    invalid: 'Enter the expiry date as month and year, for example 09 / 30.',
    attributes: html`autocomplete="cc-exp" inputmode="numeric" maxlength="9" placeholder="MM / YY"`,
  },
  cvv: {
    label: 'Security code',
    hint: '3 or 4 digits on the card',
    missing: 'Enter the security code.',
    invalid: 'The security code has 3 or 4 digits.',
    attributes: html`autocomplete="cc-csc" inputmode="numeric" maxlength="4" pattern="[0-9]{3,4}" placeholder="123"`,
  },
  card_holder: {
    label: 'Name on card',
    missing: 'Enter the name on the card.',
    invalid: 'The name has 2 to 32 characters.',
    attributes: html`autocomplete="cc-name" maxlength="32" autocapitalize="words" spellcheck="false"`,
  },
};

/** The card-entry form. Its policy lists the origins that the POST is redirected to. */
export function formPage(answer: FormAnswer, formActions: readonly string[]): RenderedPage {
  const { checkout, situation, problems } = answer;
  const { amountE4, currency } = checkout.request;
  return renderPage({
    title: `${problems.length > 0 ? 'Error: ' : ''}Pay ${checkout.merchantAccount}`,
    formActions,
    body: html`<h1>Pay by card</h1>
      ${purchaseOf(checkout)} ${situation.declined && problems.length === 0 && declineNotice(situation.attemptsLeft)}
      ${problems.length > 0 && errorSummary(problems)}
      <form method="post" action="${checkout.id}">
        <input type="hidden" name="attempt" value="${situation.attempt}" />
        ${field('card_number', answer)}
        <div class="row">${field('card_exp', answer)} ${field('cvv', answer)}</div>
        ${field('card_holder', answer)}
        <button type="submit">Pay ${displayedAmount(amountE4, currency)}</button>
      </form>
      <p class="hint">Your card details go to the payment service only, not to the merchant.</p>`,
  });
}

function purchaseOf({ merchantAccount, request: { amountE4, currency } }: Checkout): Html {
  return summary({ merchant: merchantAccount, amountE4, currency });
}

/** Does not reveal the bank's reason, which is for the merchant. */
function declineNotice(attemptsLeft: number): Html {
  return html`<div class="notice bad" role="alert">
    <strong>The payment was declined.</strong> Nothing was charged. Check the details or use another card:
    ${attemptsLeft} of ${CHECKOUT_ATTEMPTS_MAX} attempts left.
  </div>`;
}

function errorSummary(problems: readonly CardFormProblem[]): Html {
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <h2>Please check the form</h2>
    <ul>
      ${problems.map(({ field: name, kind }) => html`<li><a href="#${name}">${FIELDS[name][kind]}</a></li>`)}
    </ul>
  </div>`;
}

function field(name: CardFormField, { problems, kept }: FormAnswer): Html {
  const { label, hint, attributes, ...texts } = FIELDS[name];
  const problem = problems.find((one) => one.field === name);
  const described = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(problem === undefined ? [] : [`${name}-error`]),
  ];
  const value = { card_number: '', card_exp: kept.cardExp, cvv: '', card_holder: kept.cardHolder }[name];
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="text"
      required
      ${attributes}
      ${value !== '' && html`value="${value}"`}
      ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
      ${problem !== undefined && html`aria-invalid="true"`}
    />
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problem !== undefined && html`<p class="error" id="${name}-error">${texts[problem.kind]}</p>`}
  </div>`;
}

/** `acsUrl`: the cardholder may have left the issuer's page early. */
export function waitingPage(checkout: Checkout, acsUrl: string | undefined): RenderedPage {
  return renderPage({
    title: 'Your payment is being processed',
    refresh: { seconds: REFRESH_SECONDS },
    body: html`<h1>Your payment is being processed</h1>
      ${purchaseOf(checkout)}
      <div class="notice" role="status">
        Please wait. This page looks for the result by itself; do not pay a second time.
      </div>
      ${acsUrl !== undefined && html`<p class="hint">Not finished there? <a href="${acsUrl}">Go on with the check by your bank</a></p>`}`,
  });
}

export function expiredPage(checkout: Checkout, returnUrl: string): RenderedPage {
  return renderPage({
    title: 'This page has expired',
    body: html`<h1>This page has expired</h1>
      ${purchaseOf(checkout)}
      <p>The time to pay is over. Nothing was charged.</p>
      <a class="button" href="${returnUrl}">Back to the merchant</a>`,
  });
}

export function closedPage(checkout: Checkout): RenderedPage {
  return renderPage({
    title: 'Payment not possible',
    body: html`<h1>Payment not possible</h1>
      ${purchaseOf(checkout)}
      <p>This merchant does not take payments at the moment. Nothing was charged.</p>`,
  });
}

/** The page may still be used: the link requests its own address again. */
export function unavailablePage(): RenderedPage {
  return renderPage({
    title: 'Please try again',
    body: html`<h1>Please try again</h1>
      <p>The payment service could not take your card just now. Nothing was charged.</p>
      <a class="button" href="">Try again</a>`,
  });
}

/** Makes no claim: an earlier submission may have been charged. The link requests the page and resubmits no form. */
export function unknownPage(): RenderedPage {
  return renderPage({
    title: 'Please look again',
    body: html`<h1>Please look again</h1>
      <p>It is not known yet how your payment stands. Load this page again; do not pay a second time.</p>
      <a class="button" href="">Look again</a>`,
  });
}

export function noticePage(title: string, text: string): RenderedPage {
  return renderPage({
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}
