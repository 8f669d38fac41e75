import type { StringOptions, TSchema, TString } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { isLoopback, withoutBrackets } from './address-range';
import { unlessPlainIsAllowed } from './plain-internal-ports';
import type { ProductionRule } from './production';
import { textIn } from './production';

/** Marks a setting whose value is an address, or a list of `name=address`, and says whose it is. */
export const CALLED_KEYWORD = 'called';

/**
 * Whose an address is: somebody else's, an internal port of the gateway's own services, ours where browsers and
 * counterparts reach us, or that of a forward proxy.
 */
export type Whose = 'counterpart' | 'own' | 'public' | 'proxy';

interface AddressOptions extends StringOptions {
  description: string;
  /** Default: `counterpart`. */
  whose?: Whose;
}

/** Scheme, host, and a path: no user, query or fragment. */
const WEB_ADDRESS = '^https?://[^/?#@\\s]+(/[^/?#\\s]*)*$';
const NAME = /^[\w-]+=/;

/**
 * An address that somebody calls, this process as a rule. In production it is HTTPS, also on this machine: what is sent
 * there are card numbers, tokens and keys. Elsewhere it is HTTPS or on this machine. One of our own may be plain while
 * `ALLOW_PLAIN_INTERNAL_PORTS` says so (ADR 0084). What goes through a proxy has TLS of its own, so the proxy's address
 * has a rule of its own beside it.
 */
export function calledAddress({ whose = 'counterpart', ...options }: AddressOptions): TString {
  return Type.String({ pattern: WEB_ADDRESS, ...options, [CALLED_KEYWORD]: whose });
}

/** The same for several, as `name=address,…`. */
export function calledAddresses({ whose = 'counterpart', ...options }: AddressOptions): TString {
  return Type.String({ ...options, [CALLED_KEYWORD]: whose });
}

/**
 * A PEM file with the authority of a counterpart's certificate, in place of those that Node trusts. `X_CA_FILE` stands
 * beside `X_URL` or `X_ENDPOINT`; `authority.ts` reads it.
 */
export function authorityFile(counterpart: string) {
  return Type.Optional(
    Type.String({
      minLength: 1,
      description: `PEM: the authority of the certificate of ${counterpart}, read again for each connection; unset, those that Node trusts`,
    }),
  );
}

/** A rule for each address: HTTPS. */
export function calledAddressRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  const always = namesOf(settings, ['counterpart', 'public']).map((name) => isEncrypted(name));
  const own = namesOf(settings, ['own']).map((name) => isEncrypted(name));
  return [...always, ...own.map(unlessPlainIsAllowed)];
}

function isEncrypted(name: string): ProductionRule<object> {
  return addressRule(name, isHttps, 'which is not HTTPS');
}

/** The same for development: HTTPS, or this machine. Whoever calls us may be elsewhere. */
export function developmentAddressRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  return namesOf(settings, ['counterpart', 'own', 'proxy']).map((name) =>
    addressRule(name, isHttpsOrHere, 'which is neither HTTPS nor on this machine'),
  );
}

function addressRule(name: string, isRight: (url: URL) => boolean, complaint: string): ProductionRule<object> {
  return (config) => {
    const wrong = addressesIn(textIn(config, name) ?? '').filter((address) => {
      const url = URL.parse(address);
      return url === null || !isRight(url);
    });
    return wrong.length === 0 ? undefined : `${name} is ${wrong.join(', ')}, ${complaint}.`;
  };
}

/** @param text one address, or a list of `name=address` */
function addressesIn(text: string): string[] {
  if (text === '') return [];
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.some((entry) => NAME.test(entry)) ? entries.map((entry) => entry.replace(NAME, '')) : [text];
}

function isHttps({ protocol }: URL): boolean {
  return protocol === 'https:';
}

function isHttpsOrHere(url: URL): boolean {
  return isHttps(url) || isLoopback(withoutBrackets(url.hostname));
}

function namesOf(settings: Readonly<Record<string, TSchema>>, whose: readonly Whose[]): string[] {
  return Object.keys(settings).filter((name) => whose.some((one) => settings[name]?.[CALLED_KEYWORD] === one));
}
