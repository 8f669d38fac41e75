import { currencyOfNumber } from '@gateway/contracts';
import type { Html, Locale, RenderedPage } from '@gateway/pages';
import { html, renderPage, summary } from '@gateway/pages';
import type { ChallengeDecision, DecidedChallenge, OpenChallenge } from '../../domain/authentication';

/** The content of a page, including what its forms carry to the next request. */
export interface ChallengePage<Challenge = OpenChallenge | DecidedChallenge> {
  challenge: Challenge;
  /** Opaque text of the 3DS server, echoed. */
  sessionData: string;
  /** Where the page's forms go. */
  action: string;
  /** The `cres` for the 3DS server if this button is pressed. */
  cresOf(decision: ChallengeDecision): string;
}

/** Asks the cardholder. Each button is its own form, with the `cres` that the browser takes to the 3DS server. */
export function challengePage(locale: Locale, page: ChallengePage): RenderedPage {
  const { challenge, decisions } = locale.texts.issuer;
  return bankPage(
    locale,
    challenge.heading,
    html`<p>${challenge.text}</p>
      ${purchase(locale, page)}
      <p class="notice">${challenge.notice}</p>
      ${decisionForm(page, 'success', decisions.success)} ${decisionForm(page, 'failure', decisions.failure)}
      ${decisionForm(page, 'cancel', decisions.cancel)}`,
  );
}

/** The first decision is final; the page only lets the browser go on with it. */
export function alreadyAnsweredPage(locale: Locale, page: ChallengePage<DecidedChallenge>): RenderedPage {
  const { answered, decisions } = locale.texts.issuer;
  const { decision } = page.challenge;
  return bankPage(
    locale,
    answered.heading,
    html`<p>${answered.text(decisions[decision])}</p>
      ${purchase(locale, page)} ${decisionForm(page, decision, answered.button)}`,
  );
}

/** `reason` is in English, for the developers of 3DS servers: only an unknown challenge is the cardholder's affair. */
export function errorPage(locale: Locale, status: number, reason: string): RenderedPage {
  const { unknown, refused } = locale.texts.issuer;
  return status === 404
    ? bankPage(locale, unknown.heading, html`<p class="notice bad" role="alert">${unknown.text}</p>`)
    : bankPage(locale, refused, html`<p class="notice bad" role="alert" lang="en">${reason}</p>`);
}

function bankPage(locale: Locale, heading: string, body: Html): RenderedPage {
  const { bank, title } = locale.texts.issuer;
  return renderPage({
    locale,
    title: title(heading),
    body: html`<p class="muted">${bank}</p>
      <h1>${heading}</h1>
      ${body}`,
    // A bank does not know the shop's address, to which the 3DS server redirects.
    formActions: ["'self'", 'http:', 'https:'],
  });
}

function purchase(locale: Locale, { challenge }: ChallengePage): Html {
  const { merchantName, amountE4, purchaseCurrency, card } = challenge.request;
  return summary(locale, {
    merchant: merchantName,
    amountE4,
    currency: currencyOfNumber(purchaseCurrency) ?? purchaseCurrency,
    card: `•••• •••• •••• ${card.last4}`,
  });
}

function decisionForm({ sessionData, action, cresOf }: ChallengePage, decision: ChallengeDecision, label: string) {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="cres" value="${cresOf(decision)}" />
    <input type="hidden" name="threeDSSessionData" value="${sessionData}" />
    <button type="submit" name="button" value="${decision}" ${decision !== 'success' && html`class="quiet"`}>
      ${label}
    </button>
  </form>`;
}
