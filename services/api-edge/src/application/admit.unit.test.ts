import { RawText } from '@gateway/contracts';
import type { RawFields } from '../domain/body';
import type { Incoming } from './admit';
import { admit } from './admit';
import type { Ports } from './ports';

const SHOP = { merchantAccount: 'acme_shop', state: 'test' };
const PASSWORD = 'a_password_that_nobody_logs';

/** The one refusal that a login leaves, as JSON. */
async function refusedLogin(verdict: object, name = 'acme_shop'): Promise<unknown> {
  const refused: unknown[] = [];
  const fields = new Map(
    Object.entries({ api_version: '1', merchant_account: name, merchant_password: PASSWORD }).map(([key, value]) => [
      new RawText(key),
      new RawText(value),
    ]),
  );
  const get = (wanted: string) => [...fields].find(([key]) => key.is(wanted))?.[1];
  const ports = {
    credentials: { verify: async () => verdict },
    refuseLogin: (...refusal: unknown[]) => refused.push(refusal),
    now: () => 0,
  } as unknown as Ports;
  const incoming = { fields: { get } as unknown as RawFields, sourceIp: '192.0.2.1' } as Incoming;
  const answer = await admit(ports, incoming, { family: 'card', sessionId: 'session' });
  expect(answer).toHaveProperty('refused');
  expect(JSON.stringify(refused)).not.toContain(PASSWORD);
  expect(refused).toHaveLength(1);
  return refused[0];
}

it.each<[string, object]>([
  ['wrong-credentials', { kind: 'refused' }],
  ['throttled', { kind: 'throttled', retryAfterSeconds: 1 }],
  ['account-not-active', { kind: 'ok', account: { ...SHOP, state: 'suspended' } }],
  ['address-not-allowed', { kind: 'ok', account: { ...SHOP, ipAllowlist: ['198.51.100.0/24'] } }],
])('a refused login is on record with source and reason: %s', async (reason, verdict) => {
  expect(await refusedLogin(verdict)).toEqual([reason, { source: '192.0.2.1', merchantAccount: 'acme_shop' }]);
});

it('masks a card number in the place of a name, and leaves out what can be no name', async () => {
  const refused = { kind: 'refused' };
  expect(JSON.stringify(await refusedLogin(refused, '4111111111111111'))).not.toContain('4111111111111111');
  expect(await refusedLogin(refused, 'x'.repeat(33))).toEqual(['wrong-credentials', { source: '192.0.2.1' }]);
});
