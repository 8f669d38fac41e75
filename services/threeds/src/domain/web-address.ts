import { hasAllowedPort } from '@gateway/contracts';

const ADDRESS_LENGTH_MAX = 2048;

/**
 * Excludes text that browsers rewrite: they strip tabs, turn backslashes into slashes and add slashes. Any script is
 * allowed, because the normalized URL is checked and sent on.
 */
const PLAIN_TEXT = /^[a-zA-Z]+:\/\/[^\s\p{Cc}\\]+$/u;
/** URL accepts more characters in a host, and some of them are syntax in a Content-Security-Policy. */
const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/**
 * An absolute address that a page may send a browser to; undefined for anything else. No user info: text before an `@`
 * can pass for the host.
 */
export function webAddress(text: string, protocols: readonly string[]): URL | undefined {
  if (text.length > ADDRESS_LENGTH_MAX || !PLAIN_TEXT.test(text)) return undefined;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = PLAIN_HOST.test(url.hostname) && url.username === '' && url.password === '';
  return isPlain && hasAllowedPort(url) && protocols.includes(url.protocol) ? url : undefined;
}

export interface ReturnRules {
  /** Of the AUTH3D. */
  redirectUrl?: string | undefined;
  /** Of the account: lower case, without port. */
  returnHosts: readonly string[];
}

/** The normalized `TermUrl` of an AUTH3D; undefined unless decisions.md, section 4, allows it. No open redirect. */
export function allowedReturnUrl(termUrl: string, { redirectUrl, returnHosts }: ReturnRules): string | undefined {
  const url = webAddress(termUrl, ['https:']);
  if (url === undefined) return undefined;
  return termUrl === redirectUrl || returnHosts.includes(url.hostname) ? url.href : undefined;
}
