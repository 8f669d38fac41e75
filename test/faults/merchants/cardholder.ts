import type { Received } from '../../support/form-client';
import { formsOf, get, press, submit } from '../../support/form-client';
import { pause } from './merchant-client';

export type Choice = 'success' | 'failure' | 'cancel';

const STEPS_MAX = 25;
const RELOAD_AFTER_MS = 500;

/**
 * A cardholder's browser without scripts: opens the merchant's link, chooses on the issuer's page, and continues until it
 * is back at the merchant. Reloads pages that fail. Returns false if it never gets back.
 */
export async function authenticate(acsUrl: string, choice: Choice, home: string): Promise<boolean> {
  let page: Received | undefined;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    try {
      page = await nextPage(page ?? (await get(acsUrl)), choice, home);
      if (page === undefined) return true;
    } catch {
      page = undefined;
      await pause(RELOAD_AFTER_MS);
    }
  }
  return false;
}

/** Undefined when the browser leaves for the merchant. */
async function nextPage(page: Received, choice: Choice, home: string): Promise<Received | undefined> {
  const { location } = page;
  if (location !== undefined) return location.startsWith(home) ? undefined : get(location);
  const forms = formsOf(page);
  const button = forms.find(({ button: text }) => text.toLowerCase().includes(choice));
  if (button !== undefined) return press(page, new RegExp(choice, 'i'));
  if (forms.length === 1) return press(page);
  // A page that waits for the outcome shows it after a reload.
  await pause(RELOAD_AFTER_MS);
  return get(page.url);
}

/** The classic flow: starts with the merchant's form and ends with a PaRes posted to its `TermUrl`. */
export async function authenticateClassically(
  first: { acs_url: string; pareq: string; reference: string },
  choice: Choice,
  home: string,
): Promise<string | undefined> {
  const form = { PaReq: first.pareq, TermUrl: `${home}/term`, MD: first.reference };
  let page: Received | undefined;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    try {
      page ??= await submit(first.acs_url, form);
      const pares = formsOf(page)[0]?.fields['PaRes'];
      if (pares !== undefined) return pares;
      page = await nextPage(page, choice, `${home}/nowhere`);
    } catch {
      page = undefined;
      await pause(RELOAD_AFTER_MS);
    }
  }
  return undefined;
}
