import escapeHtml from 'escape-html';

/** Markup that is safe to insert. Only {@link html} creates it. */
export class Html {
  constructor(readonly markup: string) {}
}

type Value = string | number | Html | readonly Html[] | undefined | false;

/**
 * Inserts values into markup. Text is escaped for use between tags and in quoted attributes; `undefined` and `false`
 * insert nothing.
 */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((markup, part, index) => markup + rendered(values[index - 1]) + part));
}

/** A text in which names stand between backticks, as in Markdown. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));
  return html`${parts}`;
}

function rendered(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  return typeof value === 'object' ? value.map(({ markup }) => markup).join('') : escapeHtml(String(value));
}
