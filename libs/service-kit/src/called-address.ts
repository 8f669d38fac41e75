import type { StringOptions, TSchema, TString } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { isLoopback, withoutBrackets } from './address-range';
import type { ProductionRule } from './production';
import { textIn } from './production';

/** Marks a setting whose value is an address that this process calls. */
export const CALLED_KEYWORD = 'called';

/** Scheme, host, and a path: no user, query or fragment. */
const WEB_ADDRESS = '^https?://[^/?#@\\s]+(/[^/?#\\s]*)*$';

/**
 * An address of somebody else that this process calls. Production calls it by HTTPS alone, also on this machine: what is
 * sent there are card numbers, tokens and keys.
 */
export function calledAddress(options: StringOptions & { description: string }): TString {
  return Type.String({ pattern: WEB_ADDRESS, ...options, [CALLED_KEYWORD]: 'counterpart' });
}

/** An internal port of the gateway's own services, which networks separate from everybody else (ADR 0051). */
export function ownAddress(options: StringOptions & { description: string }): TString {
  return Type.String({ pattern: WEB_ADDRESS, ...options, [CALLED_KEYWORD]: 'own' });
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

/** A rule for each address of counterparts: HTTPS. */
export function calledAddressRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  return namesOf(settings, ['counterpart']).map((name) => (config) => {
    const address = textIn(config, name);
    return address === undefined || URL.parse(address)?.protocol === 'https:'
      ? undefined
      : `${name} is ${address}, which is not HTTPS.`;
  });
}

/** The same for development: HTTPS, or this machine. */
export function developmentAddressRules(settings: Readonly<Record<string, TSchema>>): ProductionRule<object>[] {
  return namesOf(settings, ['counterpart', 'own', 'proxy']).map((name) => (config) => {
    const address = textIn(config, name);
    return address === undefined || isHttpsOrHere(address)
      ? undefined
      : `${name} is ${address}, which is neither HTTPS nor on this machine.`;
  });
}

function isHttpsOrHere(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.protocol === 'https:' || isLoopback(withoutBrackets(url.hostname)));
}

function namesOf(settings: Readonly<Record<string, TSchema>>, kinds: readonly string[]): string[] {
  return Object.keys(settings).filter((name) => kinds.includes(String(settings[name]?.[CALLED_KEYWORD])));
}
