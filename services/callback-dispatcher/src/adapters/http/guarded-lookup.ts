import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import type { AddressGuard } from './address-guard';

/** The message says why, and is for the merchant: a name may lead to an address of our network, which is not. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';

  constructor(
    refusal: string,
    readonly address: string,
  ) {
    super(`the address ${refusal}`);
  }
}

const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;

/**
 * Resolves a name to its IPv4 and IPv6 addresses. Queries DNS directly: the system's resolver has four threads, so four
 * merchants with silent name servers would block everyone else. It still resolves names unknown to DNS, and names
 * without a dot, such as `localhost`.
 */
export function createResolve(): (hostname: string) => Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  return async (hostname) => {
    if (!hostname.includes('.')) return systemLookup(hostname, { all: true });
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    if (found.length > 0) return found;
    const silence = answers.find((answer) => answer.status === 'rejected' && isTimeout(answer.reason));
    if (silence?.status === 'rejected') throw silence.reason as Error;
    return systemLookup(hostname, { all: true });
  };
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ETIMEOUT';
}

/**
 * Gives a connection only allowed addresses, checked after DNS on every connection. Fails only if none is left.
 */
export function createGuardedLookup(
  guard: AddressGuard,
  resolve: (hostname: string) => Promise<LookupAddress[]>,
): LookupFunction {
  return (hostname, options, callback) => {
    permitted(hostname).then(
      ([first, ...others]) => {
        if (first === undefined) return callback(notFound(hostname), '', 0);
        if (options.all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };

  async function permitted(hostname: string): Promise<LookupAddress[]> {
    const found = await resolve(hostname);
    const refused: RefusedAddressError[] = [];
    const kept = found.filter(({ address }) => {
      const refusal = guard(address);
      if (refusal !== undefined) refused.push(new RefusedAddressError(refusal, address));
      return refusal === undefined;
    });
    if (kept.length === 0 && refused[0] !== undefined) throw refused[0];
    return kept;
  }
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
