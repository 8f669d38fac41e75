import type { Html, Locale, RenderedPage, Texts } from '@gateway/pages';
import { html, REDIRECTS_OF_OTHERS, renderPage, SUBMIT_AT_ONCE, summary } from '@gateway/pages';
import type { Problem, Turn } from '../../application/browser';
import type { Authentication } from '../../domain/authentication';
import { merchantNameOf } from '../../domain/authentication';
import { challengeFields } from '../emv/challenge';

const LOOK_AGAIN_SECONDS = 2;
/** In the query of a result page that shall not load itself again. */
export const STAY = 'stay';

type TurnOf<K extends Turn['kind']> = Extract<Turn, { kind: K }>;

/** Sends the browser on to the issuer's challenge. */
export function challengePage(locale: Locale, { authentication, acsUrl, card }: TurnOf<'challenge'>): RenderedPage {
  const { title, text, button } = locale.texts.challenge.start;
  const purchase = { ...purchaseOf(authentication), card: `•••• ${card.lastDigits}` };
  return renderPage({
    locale,
    title,
    body: html`<h1>${title}</h1>
      <p class="muted">${text}</p>
      ${summary(locale, purchase)} ${form(acsUrl, challengeFields(authentication), button)}`,
    // In a sandbox the ACS has an http address.
    formActions: [new URL(acsUrl).origin, REDIRECTS_OF_OTHERS],
    script: SUBMIT_AT_ONCE,
  });
}

/** Returns the browser to the merchant of an AUTH3D. */
export function returnPage(locale: Locale, { authentication, url, pares }: TurnOf<'return'>): RenderedPage {
  const { title, heading, text, button } = locale.texts.challenge.back;
  const fields = { PaRes: pares, MD: authentication.reference };
  return renderPage({
    locale,
    title,
    body: html`<h1>${heading}</h1>
      <p class="muted">${text}</p>
      ${summary(locale, purchaseOf(authentication))} ${form(url, fields, button)}`,
    formActions: [REDIRECTS_OF_OTHERS],
    script: SUBMIT_AT_ONCE,
  });
}

/** Waits for the result message: by reloading, or with `stays` until the cardholder looks again. */
export function waitingPage(locale: Locale, { authentication }: TurnOf<'wait'>, stays: boolean): RenderedPage {
  const { title, text } = locale.texts.challenge.waiting;
  return renderPage({
    locale,
    title,
    body: html`<h1>${title}</h1>
      <p role="status">${text}</p>
      ${summary(locale, purchaseOf(authentication))}
      <p><a class="button" href="${resultPath(authentication)}">${locale.texts.page.lookAgain}</a></p>`,
    ...refreshOf(authentication, stays),
  });
}

/** The time of the challenge is over; its result is recorded within moments. */
export function outOfTimePage(locale: Locale, { authentication }: TurnOf<'out-of-time'>, stays: boolean): RenderedPage {
  const { title, text, button } = locale.texts.challenge.outOfTime;
  return renderPage({
    locale,
    title,
    body: html`<h1>${title}</h1>
      <p class="notice bad" role="alert">${text}</p>
      ${summary(locale, purchaseOf(authentication))}
      <p><a class="button" href="${resultPath(authentication)}">${button}</a></p>`,
    ...refreshOf(authentication, stays),
  });
}

function refreshOf(authentication: Authentication, stays: boolean) {
  if (stays) return {};
  const url = resultPath(authentication);
  return { refresh: { seconds: LOOK_AGAIN_SECONDS, url, stayUrl: `${url}?${STAY}` } };
}

/** Relative to the origin, where the browser already is. */
export function resultPath({ pageId }: Authentication): string {
  return `/challenge/${pageId}/result`;
}

export interface StatusPage extends RenderedPage {
  status: number;
}

const PROBLEM_STATUSES: Readonly<Record<Problem, number>> = {
  'unknown-page': 404,
  'form-needed': 400,
  'wrong-form': 400,
  'wrong-return-address': 400,
  'wrong-challenge': 400,
  'no-return': 400,
};

export function problemPage(locale: Locale, problem: Problem): StatusPage {
  return messagePage(locale, PROBLEM_STATUSES[problem], problem);
}

/** A page without a next step. */
export function messagePage(locale: Locale, status: number, problem: keyof Texts['challenge']['problems']): StatusPage {
  const { title, text } = locale.texts.challenge.problems[problem];
  const body = html`<h1>${title}</h1>
    <p class="notice bad" role="alert">${text}</p>`;
  return { status, ...renderPage({ locale, title, body }) };
}

function purchaseOf(authentication: Authentication) {
  const { amountE4, currency } = authentication;
  return { merchant: merchantNameOf(authentication), amountE4, currency };
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
