import type { Html, RenderedPage } from '@gateway/pages';
import { html, renderPage, summary } from '@gateway/pages';
import type { ChallengeDecision, DecidedChallenge, OpenChallenge } from '../../domain/directory/authentication';
import { writeChallengeResponse } from './acs-messages';

/** ISO 4217 numeric. Nothing but the test currency should get here: others are shown by their number. */
const TEST_CURRENCY = '963';

/** What a page has to carry from one request to the next. */
export interface ChallengePage {
  challenge: OpenChallenge | DecidedChallenge;
  /** Opaque text of the 3DS server, echoed. */
  sessionData: string;
  /** Where the page's forms go. */
  action: string;
}

const labels: Record<ChallengeDecision, string> = {
  success: 'Confirm payment (success)',
  failure: 'Fail authentication',
  cancel: 'Cancel',
};

/** Asks the cardholder. Each button is a form of its own, that carries what the 3DS server is told through the browser. */
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

/** The first decision stays; all that is left is to go on with it. */
export function alreadyAnsweredPage(page: ChallengePage & { challenge: DecidedChallenge }): RenderedPage {
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
    // A bank cannot know where the way back leads: over the 3DS server, to a shop.
    formActions: ["'self'", 'http:', 'https:'],
  });
}

function purchase({ challenge }: ChallengePage): Html {
  const { merchantName, amountE4, purchaseCurrency, card } = challenge.request;
  return summary({
    merchant: merchantName,
    amountE4,
    currency: purchaseCurrency === TEST_CURRENCY ? 'XTS' : `(currency ${purchaseCurrency})`,
    card: `•••• •••• •••• ${card.last4}`,
  });
}

function decisionForm({ challenge, sessionData, action }: ChallengePage, decision: ChallengeDecision, label: string) {
  const { acsTransID, request } = challenge;
  const cres = writeChallengeResponse({ acsTransID, threeDSServerTransID: request.threeDSServerTransID }, decision);
  return html`<form method="post" action="${action}">
    <input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="cres" value="${cres}" />
    <input type="hidden" name="threeDSSessionData" value="${sessionData}" />
    <button type="submit" name="button" value="${decision}" ${decision !== 'success' && html`class="quiet"`}>
      ${label}
    </button>
  </form>`;
}
