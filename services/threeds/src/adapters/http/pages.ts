import type { Html, RenderedPage } from '@gateway/pages';
import { html, renderPage, summary } from '@gateway/pages';
import type { Problem, Turn } from '../../application/browser';
import type { Authentication } from '../../domain/authentication';
import { challengeFields } from '../emv/challenge';

const LOOK_AGAIN_SECONDS = 2;

type TurnOf<K extends Turn['kind']> = Extract<Turn, { kind: K }>;

/** Sends the browser on to the issuer's challenge. */
export function challengePage({ authentication, acsUrl, card }: TurnOf<'challenge'>): RenderedPage {
  const purchase = { ...purchaseOf(authentication), card: `•••• ${card.lastDigits}` };
  return renderPage({
    title: 'Confirm your payment',
    body: html`<h1>Confirm your payment</h1>
      <p class="muted">Your bank wants to make sure that it is you. You continue on its page.</p>
      ${summary(purchase)} ${form(acsUrl, challengeFields(authentication), 'Continue to your bank')}`,
    formActions: [new URL(acsUrl).origin],
    sendsItself: true,
  });
}

/** Returns the browser to the merchant of an AUTH3D. */
export function returnPage({ authentication, url, pares }: TurnOf<'return'>): RenderedPage {
  return renderPage({
    title: 'Back to the merchant',
    body: html`<h1>Thank you</h1>
      <p class="muted">You continue on the merchant's page.</p>
      ${summary(purchaseOf(authentication))} ${form(url, { PaRes: pares, MD: authentication.reference }, 'Continue')}`,
    formActions: [new URL(url).origin],
    sendsItself: true,
  });
}

/** Waits for the result message by reloading. */
export function waitingPage({ authentication }: TurnOf<'wait'>): RenderedPage {
  return renderPage({
    title: 'One moment, please',
    body: html`<h1>One moment, please</h1>
      <p role="status">Your bank is confirming the payment. This page goes on by itself.</p>
      ${summary(purchaseOf(authentication))}
      <p><a class="button" href="${resultPath(authentication)}">Look again</a></p>`,
    refresh: { seconds: LOOK_AGAIN_SECONDS, url: resultPath(authentication) },
  });
}

/** The time of the challenge is over; its result is recorded within moments. */
export function outOfTimePage({ authentication }: TurnOf<'out-of-time'>): RenderedPage {
  return renderPage({
    title: 'The time has run out',
    body: html`<h1>The time has run out</h1>
      <p class="notice bad" role="alert">The payment was not confirmed in time. You are taken back to the merchant.</p>
      ${summary(purchaseOf(authentication))}
      <p><a class="button" href="${resultPath(authentication)}">Continue</a></p>`,
    refresh: { seconds: LOOK_AGAIN_SECONDS, url: resultPath(authentication) },
  });
}

/** Relative to the origin, where the browser already is. */
export function resultPath({ pageId }: Authentication): string {
  return `/challenge/${pageId}/result`;
}

const PROBLEMS: Readonly<Record<Problem, { status: number; title: string; text: string }>> = {
  'unknown-page': {
    status: 404,
    title: 'This page does not exist',
    text: 'The address is not complete, or it was never valid. Go back to the merchant and try again.',
  },
  'form-needed': {
    status: 400,
    title: 'This page cannot be opened like this',
    text: 'It is opened by the page of the merchant. Go back there and try again.',
  },
  'wrong-form': {
    status: 400,
    title: 'This request does not fit',
    text: 'The page of the merchant has sent something that does not belong to this payment. Go back there and try again.',
  },
  'wrong-return-address': {
    status: 400,
    title: 'The way back is not allowed',
    text: 'The page of the merchant wants you to be sent to an address that is not known here, so you stay. Nothing was paid on this page.',
  },
  'wrong-challenge': {
    status: 400,
    title: 'This confirmation does not fit',
    text: 'What your bank has sent does not belong to this payment. Go back to the merchant to see how it stands.',
  },
  'no-return': {
    status: 400,
    title: 'This confirmation has ended',
    text: 'Go back to the merchant to see how your payment stands.',
  },
};

export interface StatusPage extends RenderedPage {
  status: number;
}

export function problemPage(problem: Problem): StatusPage {
  const { status, title, text } = PROBLEMS[problem];
  return messagePage(status, title, text);
}

/** A page without a next step. */
export function messagePage(status: number, title: string, text: string): StatusPage {
  const body = html`<h1>${title}</h1>
    <p class="notice bad" role="alert">${text}</p>`;
  return { status, ...renderPage({ title, body }) };
}

function purchaseOf({ merchantAccount, amountE4, currency }: Authentication) {
  return { merchant: merchantAccount, amountE4, currency };
}

function form(action: string, fields: Record<string, string>, button: string): Html {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form method="post" action="${action}">
    ${inputs}
    <button type="submit">${button}</button>
  </form>`;
}
