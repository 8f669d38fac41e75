import { CHECKOUT_ATTEMPTS_MAX, isTestCurrency, returnAddress } from '@gateway/contracts';
import type { Html, Locale, RenderedPage, Texts } from '@gateway/pages';
import { html, renderPage, summary } from '@gateway/pages';
import type { PageAnswer } from '../../application/checkout-page';
import type { ShownMerchant } from '../../application/checkout-ports';
import type { Checkout } from '../../application/ports';
import type { CardFormField, CardFormProblem } from '../../domain/card-form';
import { CARD_ENTRY_SCRIPT } from './card-entry-script';

type FormAnswer = Extract<PageAnswer, { kind: 'form' }>;

const REFRESH_SECONDS = 2;

/** What pages about a payment have in common. */
export interface PageContext {
  locale: Locale;
  merchant: ShownMerchant;
  checkout: Checkout;
}

interface FieldTexts {
  label: string;
  hint?: string;
  placeholder?: string;
  missing: string;
  invalid: string;
}

/** Everything that the server can parse. */
const CARD_NUMBER = '[0-9 \\-]{13,23}';
/** Hints for browsers, keyboards and password managers. */
const ATTRIBUTES: Readonly<Record<CardFormField, Html>> = {
  card_number: html`class="digits" autocomplete="cc-number" inputmode="numeric" maxlength="23" pattern="${CARD_NUMBER}"
  placeholder="1234 1234 1234 1234"`,
  card_exp: html`autocomplete="cc-exp" inputmode="numeric" maxlength="9"`,
  cvv: html`autocomplete="cc-csc" inputmode="numeric" maxlength="4" pattern="[0-9]{3,4}" placeholder="123"`,
  card_holder: html`autocomplete="cc-name" maxlength="32" autocapitalize="words" spellcheck="false"`,
};

/** The card-entry form. `formActions`: where its POST may be redirected to. */
export function formPage(context: PageContext, answer: FormAnswer, formActions: readonly string[]): RenderedPage {
  const { locale, merchant, checkout } = context;
  const { situation, problems } = answer;
  const { amountE4, currency } = checkout.request;
  const texts = locale.texts.cardEntry;
  const title = texts.title(merchant.name);
  return renderPage({
    locale,
    logo: merchant.logo,
    script: CARD_ENTRY_SCRIPT,
    title: problems.length > 0 ? texts.titleOfErrors(title) : title,
    formActions,
    body: html`<h1>${texts.heading}</h1>
      ${isTestCurrency(currency) && testNotice(locale)} ${purchaseOf(context)}
      ${situation.declined && problems.length === 0 && declineNotice(locale, situation)}
      ${problems.length > 0 && errorSummary(locale, problems)}
      <form method="post" action="${checkout.id}">
        <input type="hidden" name="attempt" value="${situation.attempt}" />
        ${field(locale, 'card_number', answer)} ${isTestCurrency(currency) && realCardWarning(locale, answer)}
        <div class="row">${field(locale, 'card_exp', answer)} ${field(locale, 'cvv', answer)}</div>
        ${field(locale, 'card_holder', answer)}
        <button type="submit">${texts.pay(locale.amount(amountE4, currency))}</button>
      </form>
      <p class="hint">${texts.privacy}</p>
      <p><a href="${wayBack(checkout)}">${texts.expired.back}</a></p>`,
  });
}

function purchaseOf({ locale, merchant, checkout }: PageContext): Html {
  const { amountE4, currency } = checkout.request;
  return summary(locale, { merchant: merchant.name, order: orderOf(checkout), amountE4, currency });
}

/** Merchants may send 255 characters, and a page that has ended no longer knows it. */
const ORDER_LENGTH_MAX = 100;

function orderOf(checkout: Checkout): string | undefined {
  if (checkout.state !== 'open') return undefined;
  const { productName = '' } = checkout.request.notes;
  const text = productName.trim();
  if (text === '') return undefined;
  return text.length > ORDER_LENGTH_MAX ? `${text.slice(0, ORDER_LENGTH_MAX)}…` : text;
}

/** Leaves the page open: the cardholder may come back to it. */
function wayBack({ request: { redirectUrl, transactionUniqueId } }: Checkout): string {
  return returnAddress(redirectUrl, { transactionUniqueId });
}

function testNotice({ texts }: Locale): Html {
  const { title, text } = texts.cardEntry.testMode;
  return html`<p class="notice"><strong>${title}</strong> ${text}</p>`;
}

/** Any card works in the test currency, so nothing but the number tells a real one. The script shows and hides this. */
function realCardWarning({ texts }: Locale, { kept }: FormAnswer): Html {
  return html`<p class="notice bad" id="real-card" role="alert" ${!kept.fromOtherCard && html`hidden`}>
    ${texts.cardEntry.testMode.realCard}
  </p>`;
}

/** Of the bank's reasons only that of an authentication, which the cardholder can do something about. */
function declineNotice(
  { texts }: Locale,
  { attemptsLeft, unauthenticated }: Pick<FormAnswer['situation'], 'attemptsLeft' | 'unauthenticated'>,
): Html {
  const { declined, notAuthenticated, declinedText } = texts.cardEntry;
  return html`<div class="notice bad" role="alert">
    <strong>${unauthenticated === true ? notAuthenticated : declined}</strong>
    ${declinedText(attemptsLeft, CHECKOUT_ATTEMPTS_MAX)}
  </div>`;
}

function errorSummary({ texts }: Locale, problems: readonly CardFormProblem[]): Html {
  const { errors, fields } = texts.cardEntry;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
    <h2>${errors}</h2>
    <ul>
      ${problems.map(({ field: name, kind }) => html`<li><a href="#${name}">${fields[name][kind]}</a></li>`)}
    </ul>
  </div>`;
}

function field(locale: Locale, name: CardFormField, { problems, kept }: FormAnswer): Html {
  const { label, hint, placeholder, ...texts }: FieldTexts = locale.texts.cardEntry.fields[name];
  const problem = problems.find((one) => one.field === name);
  const described = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(problem === undefined ? [] : [`${name}-error`]),
  ];
  const value = { card_number: '', card_exp: kept.cardExp, cvv: '', card_holder: kept.cardHolder }[name];
  return html`<div class="field">
    ${
      name === 'card_number'
        ? html`<div class="label"><label for="${name}">${label}</label><output id="brand" for="${name}"></output></div>`
        : html`<label for="${name}">${label}</label>`
    }
    <input
      id="${name}"
      name="${name}"
      type="text"
      required
      ${ATTRIBUTES[name]}
      ${placeholder !== undefined && html`placeholder="${placeholder}"`}
      ${value !== '' && html`value="${value}"`}
      ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}
      ${problem !== undefined && html`aria-invalid="true"`}
    />
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problem !== undefined && html`<p class="error" id="${name}-error">${texts[problem.kind]}</p>`}
  </div>`;
}

/** The addresses of a page that waits, relative to it. */
export interface WaitingAddresses {
  again: string;
  /** The same page without a refresh. */
  stay: string;
  /** True for that page. */
  stays: boolean;
}

/** `acsUrl`: the cardholder may have left the issuer's page early. */
export function waitingPage(
  context: PageContext,
  acsUrl: string | undefined,
  { again, stay, stays }: WaitingAddresses,
): RenderedPage {
  const { locale, merchant } = context;
  const { title, text, notFinished, goOn } = locale.texts.cardEntry.waiting;
  return renderPage({
    locale,
    logo: merchant.logo,
    title,
    ...(stays ? {} : { refresh: { seconds: REFRESH_SECONDS, url: again, stayUrl: stay } }),
    body: html`<h1>${title}</h1>
      ${purchaseOf(context)}
      <div class="notice" role="status">${text}</div>
      ${stays && html`<a class="button" href="${again}">${locale.texts.page.lookAgain}</a>`}
      ${acsUrl !== undefined && html`<p class="hint">${notFinished} <a href="${acsUrl}">${goOn}</a></p>`}`,
  });
}

export function expiredPage(context: PageContext, returnUrl: string): RenderedPage {
  const { locale, merchant } = context;
  const { expired, closedByMerchant } = locale.texts.cardEntry;
  const { back } = expired;
  const { title, text } = context.checkout.closedAt === undefined ? expired : closedByMerchant;
  return renderPage({
    locale,
    logo: merchant.logo,
    title,
    body: html`<h1>${title}</h1>
      ${purchaseOf(context)}
      <p>${text}</p>
      <a class="button" href="${returnUrl}">${back}</a>`,
  });
}

export function closedPage(context: PageContext): RenderedPage {
  const { locale, merchant } = context;
  const { title, text } = locale.texts.cardEntry.closed;
  return renderPage({
    locale,
    logo: merchant.logo,
    title,
    body: html`<h1>${title}</h1>
      ${purchaseOf(context)}
      <p>${text}</p>`,
  });
}

/** The page may still be used: the link requests its own address again. */
export function unavailablePage(locale: Locale): RenderedPage {
  const { title, text, again } = locale.texts.cardEntry.unavailable;
  return renderPage({ locale, title, body: linkedText(title, text, again) });
}

/** Makes no claim: an earlier submission may have been charged. The link requests the page and resubmits no form. */
export function unknownPage(locale: Locale): RenderedPage {
  const { title, text } = locale.texts.cardEntry.unknown;
  return renderPage({ locale, title, body: linkedText(title, text, locale.texts.page.lookAgain) });
}

function linkedText(title: string, text: string, link: string): Html {
  return html`<h1>${title}</h1>
    <p>${text}</p>
    <a class="button" href="">${link}</a>`;
}

export function noticePage(locale: Locale, notice: keyof Texts['cardEntry']['notices']): RenderedPage {
  const { title, text } = locale.texts.cardEntry.notices[notice];
  return renderPage({
    locale,
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}
