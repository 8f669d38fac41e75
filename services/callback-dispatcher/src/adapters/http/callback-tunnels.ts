import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import type { OutboundProxy, TunnelEnd } from '@gateway/service-kit';
import type { GuardedResolve } from './guarded-lookup';
import { RefusedAddressError } from './guarded-lookup';

/** What the proxy is asked to reach: the address that we checked, or the name. */
export type TunnelTarget = 'address' | 'name';

/** Opens connections to merchants through a forward proxy. */
export interface CallbackTunnels {
  /** What the proxy is asked for. A literal address was checked before. */
  targetOf(host: string): Promise<string>;
  open(to: TunnelEnd, timeoutMs: number): Promise<Socket>;
}

/**
 * A proxy that is given a name looks it up again, and may find another address than we did. So it is given the address
 * that was checked, IPv4 before IPv6. Where it takes names only, what our own look-up finds is still checked, and the rest
 * is left to the proxy, since a closed network may know no name outside of it.
 */
export function createCallbackTunnels(
  proxy: OutboundProxy,
  target: TunnelTarget,
  permitted: GuardedResolve,
): CallbackTunnels {
  return {
    async targetOf(host) {
      if (isIP(host) !== 0) return host;
      if (target === 'name') {
        await permitted(host).catch(throwIfRefused);
        return host;
      }
      const [first] = await permitted(host);
      return first.address;
    },
    open: (to, timeoutMs) => proxy.open(to, timeoutMs),
  };
}

function throwIfRefused(error: unknown): void {
  if (error instanceof RefusedAddressError) throw error;
}
