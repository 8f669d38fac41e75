import type { Authentication } from '../domain/authentication';
import { comeBack, lookForResult, openPage } from './browser';
import type { Ports, StoredAuthentication } from './ports';

const EXPIRES_AT = 1_000;
const IDS = { threeDSServerTransId: 't', dsTransId: 'd', acsTransId: 'a' };

function portsOf(now: number, changes: Partial<Authentication> = {}): Ports {
  const stored = {
    pageId: 'page',
    reference: 'R',
    transactionType: 'SALE3D',
    transactionUniqueId: 'u',
    redirectUrl: 'https://shop.example/',
    ids: IDS,
    state: {
      kind: 'challenge',
      acsUrl: 'https://acs.example/',
      card: { scheme: 'other', lastDigits: '1003' },
      expiresAt: EXPIRES_AT,
    },
    ...changes,
  } as StoredAuthentication;
  return { authentications: { findByPage: async () => stored }, now: () => now } as unknown as Ports;
}

const turnsAt = (now: number, changes?: Partial<Authentication>) => {
  const ports = portsOf(now, changes);
  return Promise.all([
    openPage(ports, 'page'),
    lookForResult(ports, 'page'),
    comeBack(ports, { pageId: 'page', threeDSServerTransId: 't', acsTransId: 'a' }),
  ]).then((turns) => turns.map((turn) => (turn.kind === 'problem' ? turn.problem : turn.kind)));
};

test('the clock ends a challenge for browsers before that is on record', async () => {
  expect(await turnsAt(EXPIRES_AT - 1)).toEqual(['challenge', 'wait', 'wait']);
  expect(await turnsAt(EXPIRES_AT)).toEqual(['out-of-time', 'out-of-time', 'out-of-time']);
});

test('a page that nobody was told about is not there', async () => {
  const unknown = ['unknown-page', 'unknown-page'];
  expect(await turnsAt(0, { state: { kind: 'requested' } })).toEqual([...unknown, 'wrong-challenge']);
});

test('without a way back the browser stays', async () => {
  const ended = { state: { kind: 'refused', challenged: true, code: 3103 } } as const;
  expect(await turnsAt(0, ended)).toEqual(['redirect', 'redirect', 'redirect']);
  const unreturned = { ...ended, transactionType: 'AUTH3D' } as const;
  expect(await turnsAt(0, unreturned)).toEqual(['form-needed', 'no-return', 'no-return']);
});
