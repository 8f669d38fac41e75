import escapeHtml from 'escape-html';

/** Markup that is safe to put into a page as it is. Only {@link html} makes it. */
export class Html {
  constructor(readonly markup: string) {}
}

type Value = string | number | Html | readonly Html[] | undefined | false;

/** Markup with values in it. Text is escaped, so that it fits between tags and in quoted attributes; `undefined` and `false` leave nothing. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((markup, part, index) => markup + rendered(values[index - 1]) + part));
}

function rendered(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  return typeof value === 'object' ? value.map(({ markup }) => markup).join('') : escapeHtml(String(value));
}
