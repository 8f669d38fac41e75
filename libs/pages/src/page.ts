import type { Html } from './html';
import { html, Html as Markup } from './html';
import type { Locale } from './locale';
import type { Script } from './script';
import { hashSource } from './script';
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
  /** Makes the page more convenient. It must work without, too. */
  script?: Script;
  /** The merchant's, above everything else: a PNG in base64. The page says the merchant's name beside it. */
  logo?: string | undefined;
}

export interface RenderedPage {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const STYLE_ELEMENT = new Markup(`<style>${STYLE}</style>`);
const STYLE_SOURCE = hashSource(STYLE);

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
            ${page.logo !== undefined && html`<img class="logo" src="data:image/png;base64,${page.logo}" alt="" />`}
            <p class="lock">${LOCK} ${secure}</p>
            ${page.body} ${refresh !== undefined && html`<p class="hint"><a href="${refresh.stayUrl}">${stay}</a></p>`}
          </div>
        </main>
        ${page.script?.element}
      </body>
    </html>`;
  return { headers: headersOf(page), body: document.markup };
}

function headersOf({ locale, refresh, formActions, script, logo }: Page): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    ...(script === undefined ? [] : [`script-src ${script.source}`]),
    ...(logo === undefined ? [] : ['img-src data:']),
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
