import type { AxeResults } from 'axe-core';
import axe from 'axe-core';
import { CHECKOUT_ATTEMPTS_MAX, RawText } from '@gateway/contracts';
import type { Locale, RenderedPage, Texts } from '@gateway/pages';
import { LANGUAGES, localeFor } from '@gateway/pages';
import type { Page } from 'playwright-core';
import * as cardEntry from '../services/api-edge/src/adapters/http/checkout-views';
import type { Checkout } from '../services/api-edge/src/application/ports';
import { CARD_FORM_FIELDS } from '../services/api-edge/src/domain/card-form';
import * as issuer from '../services/simulator/src/adapters/http/acs-pages';
import type { DecidedChallenge, OpenChallenge } from '../services/simulator/src/domain/authentication';
import * as challenge from '../services/threeds/src/adapters/http/pages';
import type { Authentication } from '../services/threeds/src/domain/authentication';
import type { OpenBrowser } from './support/browser';
import { openBrowser, PHONE } from './support/browser';
import { LOGO } from './support/logo';

const DESKTOP = { width: 1280, height: 800 };
/** The narrowest screen that pages are made for. */
const NARROWEST = { width: 320, height: 640 };
/** As long as a display name may be, in one word. */
const MERCHANT_NAME = 'Donaudampfschifffahrtskapitänskajütentür';
const PURCHASE = { merchantAccount: 'shop_one', amountE4: 99_999_999_999, currency: 'XTS' };

const request = {
  ...PURCHASE,
  redirectUrl: 'https://shop.example/back',
  transactionUniqueId: 'order-00000001',
  // One word, longer than what is shown.
  notes: { productName: 'x'.repeat(255) },
};
const checkout = { id: 'AAAAAAAAAAAAAAAAAAAAAA', state: 'open', ...PURCHASE, request } as unknown as Checkout;
const addresses = { again: '?', stay: '?stay=yes', stays: false };

function form(locale: Locale, problem?: 'missing' | 'invalid', declined = false): RenderedPage {
  const context = { locale, merchant: { name: MERCHANT_NAME, logo: LOGO }, checkout };
  const attempt = declined ? CHECKOUT_ATTEMPTS_MAX : 1;
  const situation = { kind: 'form', attempt, attemptsLeft: CHECKOUT_ATTEMPTS_MAX + 1 - attempt, declined } as const;
  const problems = problem === undefined ? [] : CARD_FORM_FIELDS.map((field) => ({ field, kind: problem }));
  const kept =
    problem === undefined
      ? { cardExp: '', cardHolder: '', fromOtherCard: declined }
      : { cardExp: '13 / 30', cardHolder: 'Ann Lee', fromOtherCard: true };
  return cardEntry.formPage(context, { kind: 'form', checkout, situation, problems, kept }, ["'self'"]);
}

function cardEntryPages(locale: Locale): Record<string, RenderedPage> {
  const context = { locale, merchant: { name: MERCHANT_NAME, logo: LOGO }, checkout };
  const notices = Object.keys(locale.texts.cardEntry.notices) as (keyof Texts['cardEntry']['notices'])[];
  return {
    'an empty form': form(locale),
    'a form with missing fields': form(locale, 'missing'),
    'a form with invalid fields': form(locale, 'invalid'),
    'a form after a decline': form(locale, undefined, true),
    'a payment under way': cardEntry.waitingPage(context, 'https://acs.example/', addresses),
    'a payment under way, staying': cardEntry.waitingPage(context, undefined, { ...addresses, stays: true }),
    expired: cardEntry.expiredPage(context, 'https://shop.example/'),
    closed: cardEntry.closedPage(context),
    unavailable: cardEntry.unavailablePage(locale),
    busy: cardEntry.unknownPage(locale),
    ...Object.fromEntries(notices.map((notice) => [notice, cardEntry.noticePage(locale, notice)])),
  };
}

function challengePages(locale: Locale): Record<string, RenderedPage> {
  const authentication = {
    ...PURCHASE,
    merchantName: MERCHANT_NAME,
    pageId: 'page',
    reference: 'PAYMENT000000001AU3D',
    ids: { threeDSServerTransId: 'tds', acsTransId: 'acs' },
  } as Authentication;
  const wait = { kind: 'wait', authentication } as const;
  const url = 'https://shop.example/';
  const card = { scheme: 'other', lastDigits: '1003' } as const;
  const problems = Object.keys(locale.texts.challenge.problems) as (keyof Texts['challenge']['problems'])[];
  return {
    'to the bank': challenge.challengePage(locale, { kind: 'challenge', authentication, acsUrl: url, card }),
    done: challenge.returnPage(locale, { kind: 'return', authentication, url, pares: 'proof' }),
    'no result yet': challenge.waitingPage(locale, wait, false),
    'no result yet, staying': challenge.waitingPage(locale, wait, true),
    'out of time': challenge.outOfTimePage(locale, { kind: 'out-of-time', authentication }, false),
    ...Object.fromEntries(problems.map((problem) => [problem, challenge.messagePage(locale, 400, problem)])),
  };
}

function issuerPages(locale: Locale): Record<string, RenderedPage> {
  const request = { ...PURCHASE, merchantName: MERCHANT_NAME, purchaseCurrency: '963', card: { last4: '1003' } };
  const content = { sessionData: '', action: 'https://acs.example/decision', cresOf: () => 'cres' };
  const open = { ...content, challenge: { request } as unknown as OpenChallenge };
  const decided = { ...content, challenge: { request, decision: 'failure' } as unknown as DecidedChallenge };
  return {
    'the challenge': issuer.challengePage(locale, open),
    'an answered challenge': issuer.alreadyAnsweredPage(locale, decided),
    'an unknown challenge': issuer.errorPage(locale, 404, 'unknown'),
    'a refused challenge': issuer.errorPage(locale, 400, 'creq is missing or malformed'),
  };
}

function pagesIn(language: string): [name: string, page: RenderedPage][] {
  const locale = localeFor(new RawText(language));
  return Object.entries({ ...cardEntryPages(locale), ...challengePages(locale), ...issuerPages(locale) });
}

let browser: OpenBrowser;
let page: Page;
beforeAll(async () => {
  browser = await openBrowser();
  ({ page } = await browser.visitor({ colorScheme: 'light' }));
  // Stays while the document is replaced.
  await page.evaluate(axe.source);
  await page.evaluate("HTMLFormElement.prototype.requestSubmit = () => { document.title += ' (sent)'; }");
});
afterAll(() => browser.close());

const show = ({ body }: RenderedPage): Promise<void> => page.setContent(body);

/** The rules that look at colours and sizes. All others see the same page in the dark and on a phone. */
const RULES_OF_LOOK = ['color-contrast', 'link-in-text-block', 'target-size'];

/** What axe-core finds, or cannot decide. Nothing is to be loaded first: a page has one style, inside it. */
async function findings(rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations', 'incomplete'], preload: false, ...(rules && { runOnly: rules }) };
  const run = `axe.run(document, ${JSON.stringify(options)})`;
  const { violations, incomplete } = await page.evaluate<AxeResults>(run);
  return [...violations, ...incomplete].map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Everything that is wider than it may be. */
function overflows(): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('body, body *:not(input):not(svg, svg *)')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0
        || one.getBoundingClientRect().right > innerWidth || document.documentElement.scrollWidth > innerWidth)
      .map((one) => one.outerHTML.slice(0, 120))
  `);
}

test('the checks find what is wrong', async () => {
  await page.setViewportSize(NARROWEST);
  await page.setContent(
    `<html><title>T</title><main><h1>T</h1><p style="color: #999">${'x'.repeat(99)}</p></main></html>`,
  );
  expect((await findings()).map((finding) => finding.split(':')[0])).toEqual(['color-contrast', 'html-has-lang']);
  expect(await overflows()).not.toEqual([]);
});

describe.each(LANGUAGES)('in %s', (language) => {
  const pages = pagesIn(language);

  test.each([
    ['light, on a desktop', 'light', DESKTOP, undefined],
    ['dark, on a phone', 'dark', PHONE, RULES_OF_LOOK],
  ] as const)('axe-core finds nothing: %s', async (_name, colorScheme, size, rules) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    for (const [name, rendered] of pages) {
      await show(rendered);
      expect([name, await findings(rules)]).toEqual([name, []]);
    }
  });

  test('nothing is wider than the narrowest screen', async () => {
    await page.setViewportSize(NARROWEST);
    for (const [name, rendered] of pages) {
      await show(rendered);
      expect([name, await overflows()]).toEqual([name, []]);
    }
  });

  test('every page says its language', async () => {
    for (const [name, { headers, body }] of pages) {
      expect([name, headers['Content-Language']]).toEqual([name, language]);
      expect(body).toContain(`<html lang="${language}">`);
    }
  });
});

describe('the card-entry form, where scripts run', () => {
  const english = localeFor(new RawText('en'));
  const number = () => page.getByLabel('Card number');
  const brand = () => page.locator('#brand').textContent();
  const warning = () => page.getByText('This is not a test card.');
  const type = async (text: string): Promise<string> => {
    await number().fill('');
    await number().pressSequentially(text);
    return number().inputValue();
  };
  beforeEach(() => show(form(english)));

  test.each([
    ['4111111111111111', '4111 1111 1111 1111', 'Visa'],
    ['378282246310005', '3782 822463 10005', 'American Express'],
    ['6011111111111117', '6011 1111 1111 1117', 'Discover'],
    ['62', '62', ''],
    ['6', '6', ''],
    ['2223 0000', '2223 0000', 'Mastercard'],
    ['4111-1111', '4111 1111', 'Visa'],
    ['4111x', '4111x', 'Visa'],
    ['99999999999999999990000', '9999 9999 9999 9999 999', ''],
  ])('%s is shown as %s, of the brand %j', async (typed, grouped, name) => {
    expect(await type(typed)).toBe(grouped);
    expect(await brand()).toBe(name);
  });

  test('the caret stays where somebody types or deletes', async () => {
    await type('41111111');
    for (const key of ['ArrowLeft', 'ArrowLeft', '5', '6']) await page.keyboard.press(key);
    expect(await number().inputValue()).toBe('4111 1156 11');
    for (const key of ['Backspace', 'Backspace', 'Backspace']) await page.keyboard.press(key);
    expect(await number().inputValue()).toBe('4111 111');
    await page.keyboard.press('7');
    expect(await number().inputValue()).toBe('4111 1711');
  });

  test('a number that is no test card is warned of, before it is sent', async () => {
    await type('4222222222222');
    expect(await warning().isVisible()).toBe(true);
    await type('4222222222223');
    expect(await warning().isVisible()).toBe(false);
    await type('4012000300001003');
    expect(await warning().isVisible()).toBe(false);
  });

  test('where the server has seen such a number, the warning is there from the start', async () => {
    await show(form(english, 'invalid'));
    expect(await warning().isVisible()).toBe(true);
  });
});
