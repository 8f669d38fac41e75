import type { Deployment } from '../check';
import type { Replica } from '../replicas';
import { metricIn } from '../replicas';
import { proxyCheck } from './proxy';

const page = (up: number, opened: number, late: number): string =>
  [
    `gateway_outbound_proxy_up{service="threeds"} ${up}`,
    `gateway_outbound_tunnels_total{result="opened",service="threeds"} ${opened}`,
    `gateway_outbound_tunnels_total{result="PROXY_TIMED_OUT",service="threeds"} ${late}`,
  ].join('\n');

const examine = (...pages: string[]) => {
  const replicas = pages.map((text): Replica => {
    return { service: 'threeds', name: 'threeds at 10.0.0.7:9103', failing: [], metric: metricIn(text) };
  });
  return proxyCheck.examine({ replicas } as unknown as Deployment);
};

test('services without a proxy have no fault', async () => {
  expect(await examine('', '')).toEqual({ faults: [], fine: 'no service calls through one' });
});

test('a proxy is well while tunnels open, whoever else does not answer', async () => {
  expect(await examine(page(1, 5, 3), page(1, 0, 0), '')).toEqual({ faults: [], fine: '2 replicas get through' });
});

test.each([
  ['refuses or is away', page(0, 5, 0), /does not reach its forward proxy, or is refused by it/],
  ['is silent', page(1, 0, 3), /gets no tunnel from its forward proxy in time/],
])('a proxy that %s is a fault', async (_how, text, fault) => {
  expect((await examine(text)).faults).toEqual([expect.stringMatching(fault)]);
});
