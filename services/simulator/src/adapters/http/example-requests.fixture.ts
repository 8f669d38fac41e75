import type { RequestListener } from 'node:http';
import { createBodyReader } from '@gateway/service-kit';
import type { Authentication, ChallengeIds } from '../../domain/authentication';
import { challengeResponse } from '../../domain/authentication';
import { acquirerRoutes } from './acquirer';
import { acsRoutes, CHALLENGE_PATH } from './acs';
import { bankRoutes } from './bank';
import { directoryRoutes } from './directory';
import { ledgerRoutes } from './ledger';
import type { Route } from './listener';
import { createHttpListener } from './listener';

const KEY = 'PAYMENT000000001SALE';
const TRANSACTION = '00000000-0000-4000-8000-000000000001';
const ACS_TRANSACTION = '00000000-0000-4000-8000-000000000002';
const IDS: ChallengeIds = { acsTransID: ACS_TRANSACTION, threeDSServerTransID: TRANSACTION };
const CARD = { number: '4111111111111111', expMonth: '12', expYear: '2031', cvv: '739', holder: 'CARLA CARDHOLDER' };
const THREEDS = { eci: '05', authenticationValue: `${'A'.repeat(27)}=`, version: '2.2.0', dsTransID: TRANSACTION };
const MONEY = { amount: '50', currency: 'XTS' };

const encoded = (message: object): string => Buffer.from(JSON.stringify(message)).toString('base64url');

/** Of a card without a rule of its own. */
export const AREQ = {
  messageType: 'AReq',
  messageVersion: '2.2.0',
  threeDSServerTransID: TRANSACTION,
  threeDSServerURL: 'https://3ds.example/results',
  notificationURL: 'https://3ds.example/notification',
  deviceChannel: '02',
  messageCategory: '01',
  threeDSRequestorID: 'gateway',
  threeDSRequestorName: 'Gateway',
  threeDSRequestorURL: 'https://gateway.example',
  acctNumber: CARD.number,
  cardExpiryDate: '3112',
  cardholderName: CARD.holder,
  email: 'carla@example.com',
  merchantName: 'demo_merchant',
  acquirerMerchantID: 'MD0123456789ABCD',
  purchaseAmount: '500000',
  purchaseCurrency: '963',
  purchaseExponent: '4',
  purchaseDate: '20260131120000',
  browserIP: '203.0.113.7',
  browserJavascriptEnabled: false,
  browserAcceptHeader: 'text/html',
  browserLanguage: 'en',
  browserUserAgent: 'Mozilla/5.0',
};

const CREQ = { messageType: 'CReq', messageVersion: '2.2.0', challengeWindowSize: '05', ...IDS };

const keyed = { headers: { 'idempotency-key': KEY } };

/** A request of each route whose texts are all accepted. */
export const EXAMPLE_REQUESTS = [
  {
    method: 'POST',
    path: '/acquirer/v1/operations',
    ...keyed,
    json: {
      operation: 'sale',
      reference: KEY,
      ...MONEY,
      mid: 'MD0123456789ABCD',
      eci: '05',
      card: CARD,
      threeDS: THREEDS,
    },
  },
  { method: 'GET', path: `/acquirer/v1/operations/${KEY}` },
  { method: 'POST', path: `/acquirer/v1/operations/${KEY}/cancel` },
  {
    method: 'POST',
    path: '/bank/v1/payouts',
    ...keyed,
    json: {
      reference: KEY,
      ...MONEY,
      instant: false,
      description: 'Winnings of May',
      creditor: { name: 'CONRAD CREDITOR', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
    },
  },
  { method: 'GET', path: `/bank/v1/payouts/${KEY}` },
  { method: 'POST', path: `/bank/v1/payouts/${KEY}/cancel` },
  { method: 'POST', path: `/bank/v1/payouts/${KEY}/return`, json: { reasonCode: 'AC04' } },
  { method: 'GET', path: '/bank/v1/returns', query: { limit: '10' } },
  { method: 'POST', path: `/bank/v1/returns/${KEY}/acknowledgement` },
  { method: 'POST', path: '/ds/v2/authenticate', json: AREQ },
  { method: 'GET', path: '/ledger', query: { reference: KEY } },
  { method: 'GET', path: '/ledger', query: { payment: KEY.slice(0, 16) } },
  { method: 'POST', path: CHALLENGE_PATH, form: { creq: encoded(CREQ), threeDSSessionData: 'c2Vzc2lvbg' } },
  {
    method: 'POST',
    path: `${CHALLENGE_PATH}/${ACS_TRANSACTION}/decision`,
    form: {
      decision: 'success',
      cres: encoded(challengeResponse(IDS, 'success')),
      threeDSSessionData: 'c2Vzc2lvbg',
      button: 'success',
    },
  },
] as const;

/** All routes of the simulator, with books that are empty but for a challenge. */
export function exampleRoutes(): readonly Route[] {
  const now = (): number => 0;
  const nothing = async () => undefined;
  const records = {
    insert: async () => true,
    replace: async () => 'stored' as const,
    find: nothing,
    findLatest: nothing,
  };
  const acquired = { ...records, approvedTransaction: nothing, followerOf: nothing, authorizationOf: nothing };
  const returns = { insert: async () => undefined, unacknowledged: async () => [], acknowledge: async () => true };
  const challenge = {
    ...{ state: 'challenged', acsTransID: ACS_TRANSACTION, dsTransID: ACS_TRANSACTION, at: 0 },
    authenticationValue: THREEDS.authenticationValue,
    request: { ...AREQ, card: { brand: 'visa', last4: '1111' }, behaviour: 'challenge', amountE4: 500_000 },
  } as unknown as Authentication;
  const authentications = {
    insert: async () => true,
    replace: async <A>(_previous: unknown, next: A) => ({ authentication: next, version: 1 }),
    find: async () => ({ authentication: challenge, version: 0 }),
    findLatest: nothing,
    findLatestOf: nothing,
    findDue: async () => [],
  };
  const directory = {
    authentications,
    now,
    newTransactionId: () => ACS_TRANSACTION,
    newAuthenticationValue: () => THREEDS.authenticationValue,
    sendResult: async () => 'taken' as const,
  };
  const acsURL = () => `https://acs.example${CHALLENGE_PATH}`;
  const takes = () => true;
  const count = () => undefined;
  const ledger = { entriesOfReference: async () => [], entriesOfPayment: async () => [] };
  return [
    ...acquirerRoutes({ records: acquired, now, newAuthcode: () => 'ABC123' }, takes, count),
    ...bankRoutes({ records, returns, now }, takes, count),
    ...directoryRoutes({ ports: directory, acsURL, takes, onAuthentication: count }),
    ...ledgerRoutes([ledger]),
    ...acsRoutes({ authentications, now, reportResult: async () => undefined }, acsURL),
  ];
}

/** A listener with {@link exampleRoutes}. */
export function exampleListener(): RequestListener {
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const logger = { ...silent, child: () => logger };
  const bodies = createBodyReader();
  return createHttpListener({ routes: exampleRoutes(), bodies, latencyMs: 0, silenceMs: 1, logger }).listener;
}
