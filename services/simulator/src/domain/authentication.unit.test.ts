import { behaviourOfCard, TEST_CARDS } from '@gateway/contracts';
import type { AttemptEnd, AuthenticationRequest, DecidedChallenge } from './authentication';
import {
  afterAttempt,
  authenticationResponse,
  CHALLENGE_DECISIONS,
  claimed,
  decideAuthentication,
  decideChallenge,
  resultRequest,
  sameAuthentication,
} from './authentication';
import { maskedCard } from './masked-card';

const NOW = 1_800_000_000_000;
const ACS_URL = 'http://acs.example/challenge';
const VALUE = 'AAECAwQFBgcICQoLDA0ODxAREhM=';
const IDS = { messageVersion: '2.2.0', threeDSServerTransID: 'server', dsTransID: 'ds', acsTransID: 'acs' };
const FACTS = { now: NOW, dsTransID: 'ds', acsTransID: 'acs', authenticationValue: VALUE };

const requestOf = (pan: string): AuthenticationRequest => ({
  threeDSServerTransID: 'server',
  threeDSServerURL: 'http://server.example/results',
  notificationURL: 'http://server.example/notification',
  card: maskedCard(pan),
  behaviour: behaviourOfCard(pan),
  merchantName: 'demo_merchant',
  amountE4: 100_000,
  purchaseCurrency: '963',
});

describe('the answer to an AReq', () => {
  const challenge = { transStatus: 'C', acsURL: ACS_URL };
  const rejected = { transStatus: 'R', transStatusReason: '12', eci: '07' };
  const notEnrolled = { transStatus: 'N', transStatusReason: '08' };
  test.each([
    [TEST_CARDS.challenged.visa, challenge],
    [TEST_CARDS.challenged.mastercard, challenge],
    [TEST_CARDS.frictionless.visa, { transStatus: 'Y', eci: '05', authenticationValue: VALUE }],
    [TEST_CARDS.frictionless.mastercard, { transStatus: 'Y', eci: '02', authenticationValue: VALUE }],
    [TEST_CARDS.attempted.visa, { transStatus: 'A', eci: '06', authenticationValue: VALUE }],
    [TEST_CARDS.attempted.mastercard, { transStatus: 'A', eci: '01', authenticationValue: VALUE }],
    [TEST_CARDS.rejected.visa, rejected],
    [TEST_CARDS.rejected.mastercard, rejected],
    [TEST_CARDS.notEnrolled.visa, notEnrolled],
    [TEST_CARDS.notEnrolled.mastercard, notEnrolled],
    ['378282246310005', notEnrolled],
    // One digit beside a test card.
    ['4012000300001002', notEnrolled],
  ])('for %s', (pan, answer) => {
    const authentication = decideAuthentication(requestOf(pan), FACTS);
    if (authentication === 'unavailable') throw new Error(authentication);
    expect(authenticationResponse(authentication, ACS_URL)).toEqual({ messageType: 'ARes', ...IDS, ...answer });
    expect(authentication.at).toBe(NOW);
  });

  test.each([TEST_CARDS.unavailable.visa, TEST_CARDS.unavailable.mastercard])('for %s there is none', (pan) => {
    expect(decideAuthentication(requestOf(pan), FACTS)).toBe('unavailable');
  });
});

test.each<[string, Partial<AuthenticationRequest>]>([
  ['threeDSServerURL', { threeDSServerURL: 'http://other.example' }],
  ['notificationURL', { notificationURL: 'http://other.example' }],
  ['card', { card: maskedCard(TEST_CARDS.frictionless.visa) }],
  ['brand', { card: { brand: 'other', last4: '1003' } }],
  ['behaviour', { behaviour: 'attempt' }],
  ['merchantName', { merchantName: 'someone else' }],
  ['amountE4', { amountE4: 1 }],
  ['purchaseCurrency', { purchaseCurrency: '978' }],
])('a request with another %s is another request', (_name, change) => {
  const request = requestOf(TEST_CARDS.challenged.visa);
  expect(sameAuthentication(request, { ...request })).toBe(true);
  expect(sameAuthentication(request, { ...request, ...change })).toBe(false);
});

function decidedWith(pan: string, decision: (typeof CHALLENGE_DECISIONS)[number]): DecidedChallenge {
  const challenge = decideAuthentication(requestOf(pan), FACTS);
  if (challenge === 'unavailable' || challenge.state !== 'challenged') throw new Error('not challenged');
  return decideChallenge(challenge, decision, NOW + 1);
}

describe('the result of a challenge', () => {
  const common = { messageType: 'RReq', ...IDS, messageCategory: '01', interactionCounter: '01' };
  test.each([
    [TEST_CARDS.challenged.visa, 'success', { transStatus: 'Y', eci: '05', authenticationValue: VALUE }],
    [TEST_CARDS.challenged.mastercard, 'success', { transStatus: 'Y', eci: '02', authenticationValue: VALUE }],
    [TEST_CARDS.challenged.visa, 'failure', { transStatus: 'N' }],
    [TEST_CARDS.challenged.mastercard, 'failure', { transStatus: 'N' }],
    [TEST_CARDS.challenged.visa, 'cancel', { transStatus: 'N', challengeCancel: '01' }],
    [TEST_CARDS.challenged.mastercard, 'cancel', { transStatus: 'N', challengeCancel: '01' }],
  ] as const)('of %s after %s', (pan, decision, result) => {
    const decided = decidedWith(pan, decision);
    expect(resultRequest(decided)).toEqual({ ...common, ...result });
    expect(decided).toMatchObject({ state: 'decided', decision, at: NOW, decidedAt: NOW + 1 });
  });

  test('does not change what the first answer was', () => {
    for (const decision of CHALLENGE_DECISIONS) {
      const response = authenticationResponse(decidedWith(TEST_CARDS.challenged.visa, decision), ACS_URL);
      expect(response).toEqual({ messageType: 'ARes', ...IDS, transStatus: 'C', acsURL: ACS_URL });
    }
  });
});

describe('the delivery of a result', () => {
  const decided = decidedWith(TEST_CARDS.challenged.visa, 'success');
  const after = (end: AttemptEnd, attempts: number): DecidedChallenge['delivery'] => {
    const delivery = { state: 'due' as const, attempts, nextAt: NOW };
    return afterAttempt({ ...decided, delivery }, end, NOW).delivery;
  };

  test('is tried five times, 1, 2, 4 and 8 s apart', () => {
    expect([0, 1, 2, 3, 4].map((attempts) => after('not-taken', attempts))).toEqual([
      { state: 'due', attempts: 1, nextAt: NOW + 1_000 },
      { state: 'due', attempts: 2, nextAt: NOW + 2_000 },
      { state: 'due', attempts: 3, nextAt: NOW + 4_000 },
      { state: 'due', attempts: 4, nextAt: NOW + 8_000 },
      { state: 'given-up', attempts: 5 },
    ]);
  });

  test.each(['taken', 'refused'] as const)('ends when it is %s', (end) => {
    expect(after(end, 0)).toEqual({ state: end, attempts: 1 });
    expect(after(end, 4)).toEqual({ state: end, attempts: 5 });
  });

  test('belongs to whoever decided, until an attempt must be over', () => {
    const { delivery } = decided;
    expect(delivery).toMatchObject({ state: 'due', attempts: 0 });
    expect(claimed(decided, NOW + 1 + 9_999)).toBeUndefined();
    expect(claimed(decided, NOW + 1 + 10_000)?.delivery).toEqual({ ...delivery, nextAt: NOW + 1 + 20_000 });
  });

  test.each(['taken', 'refused', 'given-up'] as const)('is not tried again when it is %s', (state) => {
    expect(claimed({ ...decided, delivery: { state, attempts: 1 } }, NOW + 1e9)).toBeUndefined();
  });
});
