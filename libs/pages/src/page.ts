import { createHash } from 'node:crypto';
import type { Html } from './html';
import { html, Html as Markup } from './html';
import type { Locale } from './locale';
import { STYLE } from './style';

/**
 * For a form that ends at a merchant's or an issuer's server: they redirect the browser onwards, to hosts that we do not
 * know, and a blocked hop would leave the cardholder on our page after the charge.
 */
export const REDIRECTS_OF_OTHERS = 'https:';

export interface Page {
  locale: Locale;
  /** Shown by browsers as the title, and read first by screen readers. */
  title: string;
  /** Everything inside `<main>`. */
  body: Html;
  /**
   * Where a form of this page may be sent or redirected to (browsers check each hop): `'self'`, origins, and
   * {@link REDIRECTS_OF_OTHERS}. Absent if the page has no form.
   */
  formActions?: readonly string[];
  /**
   * The browser loads `url` after so many seconds, unless the cardholder needs more time and chooses `stayUrl`, the
   * same page without a refresh. Both are addresses of ours.
   */
  refresh?: { seconds: number; url: string; stayUrl: string };
  /** Submits the page's only form automatically if scripts run. Otherwise its button does. */
  sendsItself?: boolean;
}

export interface RenderedPage {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const SCRIPT = 'document.forms[0].requestSubmit();';
const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`);
const SCRIPT_ELEMENT = new Markup(`<script>${SCRIPT}</script>`);
/** The policy allows these two texts and no others. */
const STYLE_SOURCE = sourceOf(STYLE);
const SCRIPT_SOURCE = sourceOf(SCRIPT);

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const LOCK = new Markup(
  '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M8 1a4 4 0 0 0-4 4v2H3.5A1.5 1.5 0 0 0 2 8.5v5A1.5 1.5 0 0 0 3.5 15h9a1.5 1.5 0 0 0 1.5-1.5v-5A1.5 1.5 0 0 0 12.5 7H12V5a4 4 0 0 0-4-4zm2.5 6h-5V5a2.5 2.5 0 0 1 5 0z"/></svg>',
);

/** A whole page with its headers: never cached, never framed, nothing loaded from elsewhere. */
export function renderPage(page: Page): RenderedPage {
  const { locale, refresh } = page;
  const { secure, stay } = locale.texts.page;
  const document = html`<!doctype html>
    <html lang="${locale.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <div class="panel">
            <p class="lock">${LOCK} ${secure}</p>
            ${page.body} ${refresh !== undefined && html`<p class="hint"><a href="${refresh.stayUrl}">${stay}</a></p>`}
          </div>
        </main>
        ${page.sendsItself === true && SCRIPT_ELEMENT}
      </body>
    </html>`;
  return { headers: headersOf(page), body: document.markup };
}

function headersOf({ locale, refresh, formActions, sendsItself }: Page): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(sendsItself === true ? [`script-src ${SCRIPT_SOURCE}`] : []),
    `form-action ${[...new Set(formActions ?? ["'none'"])].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': locale.language,
    Vary: 'Accept-Language',
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(refresh === undefined ? {} : { Refresh: `${refresh.seconds}; url=${refresh.url}` }),
  };
}
