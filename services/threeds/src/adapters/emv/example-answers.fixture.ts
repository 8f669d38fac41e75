import { Secret, TEST_CARDS } from '@gateway/contracts';
import { createLogger, createMetrics } from '@gateway/service-kit';
import { createDirectory } from './directory';
import { MESSAGE_VERSION } from './fields';

const ID = '6d1a3f5e-0c8b-4b7e-9f43-2a51c7d80e61';

/** One answer of each kind, by its name. */
export const EXAMPLE_ANSWERS = {
  ARes: {
    messageType: 'ARes',
    messageVersion: MESSAGE_VERSION,
    transStatus: 'C',
    transStatusReason: '14',
    threeDSServerTransID: ID,
    dsTransID: ID,
    acsTransID: ID,
    authenticationValue: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    acsURL: 'https://acs.example/challenge',
  },
  Erro: { messageType: 'Erro', messageVersion: MESSAGE_VERSION, errorCode: '203', errorDetail: 'purchaseAmount' },
} as const;

/** A cardholder who is asked about; the transaction's id and deadline are the caller's. */
export const EXAMPLE_PAYMENT = {
  card: new Secret({ pan: TEST_CARDS.notEnrolled.visa, expMonth: '01', expYear: '2031', holder: 'C' }),
  customer: { firstName: 'C', lastName: 'C', country: 'DEU', email: 'c@example.org', ip: '::1' },
  merchantAccount: 'shop_one',
  merchantName: 'Shop One',
  midReference: 'm',
  amountE4: 0,
  currency: 'XTS',
  acceptedAt: 0,
};

export function exampleCalls(url: string) {
  const client = createDirectory({
    url,
    timeoutMs: 5_000,
    callsAtOnce: 8,
    isProduction: false,
    own: { results: 'r', notification: 'n', publicUrl: 'p' },
    metrics: createMetrics('test', { processFigures: false }),
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  const ask = () => client.prepare({ ...EXAMPLE_PAYMENT, threeDSServerTransId: ID, isTooLate: () => false })();
  return { calls: { ARes: ask, Erro: ask }, close: () => client.close() };
}
