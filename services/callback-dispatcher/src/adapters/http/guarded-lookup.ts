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

/** Node gives look-ups two threads. The other one is for the names of Kafka and MongoDB. */
const SYSTEM_LOOKUPS_MAX = 1;
/** DNS does not know the name, or there is no DNS. A name server that fails or keeps silent gives other codes. */
const UNKNOWN_TO_DNS: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME', 'ECONNREFUSED']);

type Resolve = (hostname: string) => Promise<LookupAddress[]>;

/**
 * Resolves a name to its IPv4 and IPv6 addresses. Queries DNS directly: the system's resolver has two threads, so two
 * merchants with silent name servers would block everyone else. The system still resolves names unknown to DNS, and
 * names without a dot, such as `localhost`: one name at a time, whose askers share the answer. Others fail with EAI_AGAIN
 * meanwhile.
 */
export function createResolve(
  dns: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
  system: Resolve = (hostname) => systemLookup(hostname, { all: true }),
): Resolve {
  const askSystem = oneAtATime(system);
  return async (hostname) => {
    if (!hostname.includes('.')) return askSystem(hostname);
    const answers = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    if (found.length > 0) return found;
    const failure = answers.find((answer) => answer.status === 'rejected' && !isUnknown(answer.reason));
    if (failure?.status === 'rejected') throw failure.reason as Error;
    return askSystem(hostname);
  };
}

function isUnknown(error: unknown): boolean {
  return UNKNOWN_TO_DNS.has((error as { code?: unknown }).code);
}

/** Nobody waits for another name: with a silent name server a look-up takes ten seconds, longer than any connection. */
function oneAtATime(resolve: Resolve): Resolve {
  const running = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const shared = running.get(hostname);
    if (shared !== undefined) return shared;
    if (running.size >= SYSTEM_LOOKUPS_MAX) return Promise.reject(busy(hostname));
    const lookup = resolve(hostname).finally(() => running.delete(hostname));
    running.set(hostname, lookup);
    return lookup;
  };
}

/** As the system says that another try may succeed. */
function busy(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`another name than ${hostname} is being looked up`), { code: 'EAI_AGAIN' });
}

/** The allowed addresses of a name. Throws if there is none. */
export type GuardedResolve = (hostname: string) => Promise<[LookupAddress, ...LookupAddress[]]>;

export function createGuardedResolve(guard: AddressGuard, resolve: Resolve): GuardedResolve {
  return async (hostname) => {
    const found = await resolve(hostname);
    const refused: RefusedAddressError[] = [];
    const kept = found.filter(({ address }) => {
      const refusal = guard(address);
      if (refusal !== undefined) refused.push(new RefusedAddressError(refusal, address));
      return refusal === undefined;
    });
    const [first, ...others] = kept;
    if (first === undefined) throw refused[0] ?? notFound(hostname);
    return [first, ...others];
  };
}

/** Gives a connection only allowed addresses, checked after DNS on every connection. Fails only if none is left. */
export function createGuardedLookup(permitted: GuardedResolve): LookupFunction {
  return (hostname, options, callback) => {
    permitted(hostname).then(
      (addresses) => {
        const [{ address, family }] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, address, family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
