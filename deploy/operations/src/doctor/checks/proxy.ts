import type { Check } from '../check';
import type { Replica } from '../replicas';

/** The forward proxy, as each replica that calls through one found it last time. */
export const proxyCheck: Check = {
  name: 'proxy',
  async examine({ replicas }) {
    const users = replicas.filter(({ metric }) => metric('gateway_outbound_proxy_up') !== undefined);
    const faults = users.flatMap(({ name, metric }) => {
      if (metric('gateway_outbound_proxy_up') === 0)
        return [
          `${name} does not reach its forward proxy, or is refused by it: see OUTBOUND_PROXY_URL, its authority and its password.`,
        ];
      return isSilent({ metric }) ? [`${name} gets no tunnel from its forward proxy in time: look at the proxy.`] : [];
    });
    const fine = users.length === 0 ? 'no service calls through one' : `${users.length} replicas get through`;
    return { faults, fine };
  },
};

/** Only time-outs so far. Beside tunnels that opened, they are those of hosts that do not answer. */
function isSilent({ metric }: Pick<Replica, 'metric'>): boolean {
  const count = (result: string): number => metric('gateway_outbound_tunnels_total', { result }) ?? 0;
  return count('opened') === 0 && count('PROXY_TIMED_OUT') > 0;
}
