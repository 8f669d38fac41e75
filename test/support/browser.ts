import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

const SCREENSHOTS = join(__dirname, '..', '..', 'docs', 'pages');

/** A phone's screen. */
export const PHONE = { width: 390, height: 844 };

export interface OpenBrowser {
  /** A separate browser for one cardholder, with a record of everything that a page's policy blocked. */
  visitor(options?: BrowserContextOptions): Promise<Visitor>;
  close(): Promise<void>;
}

export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: string[];
}

export async function openBrowser(): Promise<OpenBrowser> {
  const executablePath = process.env['CHROMIUM_PATH'];
  if (executablePath === undefined) throw new Error('no CHROMIUM_PATH: run the tests with npm test');
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'],
  });
  return {
    async visitor(options = {}) {
      // The merchant's certificate is made for the run.
      const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // Browsers request an icon from every site; none of ours has one.
        const isAboutIcon = message.location().url.endsWith('/favicon.ico');
        if (message.type() === 'error' && !isAboutIcon) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      return { page, context, complaints };
    },
    close: () => browser.close(),
  };
}

/** Addresses differ from run to run. */
const ADDRESS = /^ *- \/url: .*\n/gm;

/**
 * Compares what is on the page, as screen readers get it, with what was there when its picture for the documentation was
 * taken. Takes a new picture when UPDATE_DOCS is set.
 */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const content = join(SCREENSHOTS, `${name}.txt`);
  const shown = `${await page.locator('body').ariaSnapshot()}\n`.replace(ADDRESS, '');
  if (process.env['UPDATE_DOCS'] !== undefined) {
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
    writeFileSync(content, shown);
  }
  expect(shown).toBe(readFileSync(content, 'utf8'));
}
