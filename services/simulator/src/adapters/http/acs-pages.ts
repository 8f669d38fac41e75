import type { Html, RenderedPage } from '@gateway/pages';
import { html, renderPage, summary } from '@gateway/pages';
import type { ChallengeDecision, DecidedChallenge, OpenChallenge } from '../../domain/authentication';
import { NUMERIC_TEST_CURRENCY } from '../../domain/authentication';

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

const labels: Record<ChallengeDecision, string> = {
  success: 'Confirm payment (success)',
  failure: 'Fail authentication',
  cancel: 'Cancel',
};

/** Asks the cardholder. Each button is its own form, with the `cres` that the browser takes to the 3DS server. */
export function challengePage(page: ChallengePage): RenderedPage {
  return bankPage(
    'Confirm your payment',
    html`<p>Your bank wants to be sure that it is you who pays.</p>
      ${purchase(page)}
      <p class="notice">This is a test bank. Choose how the authentication ends.</p>
      ${decisionForm(page, 'success', labels.success)} ${decisionForm(page, 'failure', labels.failure)}
      ${decisionForm(page, 'cancel', labels.cancel)}`,
  );
}

/** The first decision is final; the page only lets the browser go on with it. */
export function alreadyAnsweredPage(page: ChallengePage<DecidedChallenge>): RenderedPage {
  return bankPage(
    'You have already answered',
    html`<p>Your first answer stands: ${labels[page.challenge.decision]}.</p>
      ${purchase(page)} ${decisionForm(page, page.challenge.decision, 'Go on')}`,
  );
}

export function errorPage(status: number, message: string): RenderedPage {
  const what = status === 404 ? 'Your bank knows no such payment' : 'Your bank cannot go on';
  return bankPage(what, html`<p class="notice bad" role="alert">${message}</p>`);
}

function bankPage(heading: string, body: Html): RenderedPage {
  return renderPage({
    title: `${heading} – Your bank`,
    body: html`<p class="muted">Your bank</p>
      <h1>${heading}</h1>
      ${body}`,
    // A bank does not know the shop's address, to which the 3DS server redirects.
    formActions: ["'self'", 'http:', 'https:'],
  });
}

function purchase({ challenge }: ChallengePage): Html {
  const { merchantName, amountE4, purchaseCurrency, card } = challenge.request;
  return summary({
    merchant: merchantName,
    amountE4,
    currency: purchaseCurrency === NUMERIC_TEST_CURRENCY ? 'XTS' : `(currency ${purchaseCurrency})`,
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
