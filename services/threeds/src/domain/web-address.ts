const ADDRESS_LENGTH_MAX = 2048;

/**
 * What an address is made of when browsers and this code read it alike: they strip tabs, turn backslashes round and add
 * slashes. Any script will do: what is judged, and sent on, is what the URL standard makes of it.
 */
const PLAIN_TEXT = /^[a-zA-Z]+:\/\/[^\s\p{Cc}\\]+$/u;
/** URL takes more than these in a host, and some of that would be syntax in a Content-Security-Policy. */
const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * An absolute address that a page may send a browser to; undefined for anything else. No user info: what is before an
 * `@` only looks like the host.
 */
export function webAddress(text: string, protocols: readonly string[]): URL | undefined {
  if (text.length > ADDRESS_LENGTH_MAX || !PLAIN_TEXT.test(text)) return undefined;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = PLAIN_HOST.test(url.hostname) && url.username === '' && url.password === '';
  return isPlain && protocols.includes(url.protocol) ? url : undefined;
}

export interface ReturnRules {
  /** Of the AUTH3D. */
  redirectUrl?: string | undefined;
  /** Of the account: lower case, without port. */
  returnHosts: readonly string[];
}

/** The `TermUrl` of an AUTH3D, if it is one (decisions.md, section 4): there is no open redirect here. */
export function allowedReturnUrl(termUrl: string, { redirectUrl, returnHosts }: ReturnRules): string | undefined {
  const url = webAddress(termUrl, ['https:']);
  if (url === undefined) return undefined;
  return termUrl === redirectUrl || returnHosts.includes(url.hostname) ? url.href : undefined;
}
