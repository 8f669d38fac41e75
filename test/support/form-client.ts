import { until } from '@gateway/testing';
import { createHttpClient } from '@gateway/service-kit';

/** A page or redirect as a browser without scripts gets it. */
export interface Received {
  status: number;
  url: string;
  location?: string;
  headers: Record<string, unknown>;
  body: string;
}

export interface Form {
  action: string;
  method: string;
  fields: Record<string, string>;
  button: string;
}

const client = createHttpClient({ baseUrl: '', timeoutMs: 10_000 });

export async function get(url: string): Promise<Received> {
  return received(url, await client.get<string>(url, { responseType: 'text' }));
}

/** Resubmits the same form after a 307, as a browser does. */
export async function submit(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Received> {
  const sent = await client.post<string>(url, new URLSearchParams(fields), { responseType: 'text', headers });
  const answer = received(url, sent);
  return answer.status === 307 && answer.location !== undefined ? submit(answer.location, fields, headers) : answer;
}

function received(url: string, response: { status: number; data: string; headers: object }): Received {
  const headers = response.headers as Record<string, unknown>;
  const location = headers['location'];
  return {
    status: response.status,
    url,
    headers,
    body: response.data,
    ...(typeof location === 'string' ? { location: new URL(location, url).href } : {}),
  };
}

/** The forms of a page, as the parser of a browser would have them. Pages here quote every attribute. */
export function formsOf({ body, url }: Received): Form[] {
  return [...body.matchAll(/<form([^>]*)>([^]*?)<\/form>/g)].map(([, attributes = '', content = '']) => ({
    action: new URL(attributeOf(attributes, 'action') ?? url, url).href,
    method: attributeOf(attributes, 'method') ?? 'get',
    fields: Object.fromEntries(
      [...content.matchAll(/<input([^>]*)>/g)].map(([, input = '']) => [
        attributeOf(input, 'name') ?? '',
        attributeOf(input, 'value') ?? '',
      ]),
    ),
    button: (/<button[^>]*>([^]*?)<\/button>/.exec(content)?.[1] ?? '').trim(),
  }));
}

function attributeOf(attributes: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Sends the page's form whose button has this text; the only one when none is named. */
export function press(page: Received, button?: RegExp): Promise<Received> {
  const forms = formsOf(page);
  const form = button === undefined ? forms[0] : forms.find((candidate) => button.test(candidate.button));
  if (form === undefined || (button === undefined && forms.length > 1)) {
    throw new Error(`${page.url} has no such form: ${page.status} ${page.body.slice(0, 2_000)}`);
  }
  return submit(form.action, form.fields);
}

/** Follows the browser from a page until it comes to an address that begins so. */
export async function comingTo(prefix: string, from: Received): Promise<URL> {
  let page = from;
  const there = await until(`the way to ${prefix}`, async () => {
    const here = page.status === 303 && page.location !== undefined ? page.location : page.url;
    if (here.startsWith(prefix)) return here;
    page = await get(here);
    return undefined;
  });
  return new URL(there);
}
