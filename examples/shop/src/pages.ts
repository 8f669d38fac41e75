/** Markup whose values are escaped. */
class Html {
  constructor(readonly text: string) {}
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function html(strings: TemplateStringsArray, ...values: readonly string[]): Html {
  const escaped = values.map((value) => value.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? ''));
  return new Html(String.raw({ raw: strings }, ...escaped));
}

export function page(title: string, body: Html): string {
  const head = '<meta charset="utf-8" /><meta name="viewport" content="width=device-width" />';
  return `<!doctype html><html lang="en"><head>${head}<title>${title}</title></head><body><h1>${title}</h1>${body.text}</body></html>`;
}
