import type { AxiosResponse } from 'axios';
import { OperationReplied, queries } from '@gateway/contracts';
import { createMetrics } from '@gateway/service-kit';
import type { AcquirerAnswer, AcquirerConnector, BankFacts, StoredPayment } from '../../application/ports';
import { outcomesOf } from '../../application/outcome';
import { answered, PAYMENT_ID, PAYMENTS } from '../../domain/payments.fixture';
import { openAcquirer } from './acquirer';

const OPERATION = { merchantAccount: 'merchant', reference: 'REFERENCE' };
type Settled = Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }>;

/** An acquirer whose connector reads this answer in every response. */
function connectorReading(answer: Settled): AcquirerConnector {
  const send = async () => ({}) as AxiosResponse<unknown>;
  const read = () => answer;
  const translation = {
    ...{ baseUrl: 'http://127.0.0.1:9', timeoutMs: 1_000 },
    ...{ operate: send, answerIn: read, inquire: send, inquiryIn: read, cancellation: { send, answerIn: read } },
  };
  const metrics = createMetrics('test', { processFigures: false });
  return openAcquirer('simulator', translation, { callsAtOnce: 2, metrics });
}

const CALLS: Record<string, (connector: AcquirerConnector) => Promise<unknown>> = {
  operation: (connector) => connector.operate('sale', { ...OPERATION, currency: 'XTS', midReference: 'MD' }),
  inquiry: (connector) => connector.inquire(OPERATION),
  cancellation: async (connector) => connector.cancel?.(OPERATION),
};

const LONGEST: Required<BankFacts> = {
  transactionId: 't'.repeat(255),
  id: '1'.repeat(255),
  name: 'n'.repeat(255),
  descriptor: 'd'.repeat(255),
  advice: 'a'.repeat(65_535),
  reasonCode: 'c'.repeat(255),
  reasonDescription: 'r'.repeat(255),
};
const tooLong = Object.fromEntries(Object.entries(LONGEST).map(([name, fact]) => [name, `${fact}x`]));

describe.each(Object.entries(CALLS))('the answer to an %s', (_name, call) => {
  const told = async (answer: Settled): Promise<unknown> => {
    const connector = connectorReading(answer);
    const read = await call(connector);
    connector.close();
    return read;
  };

  test.each<Settled>([
    { kind: 'approved', authcode: 'a'.repeat(24), bank: LONGEST },
    { kind: 'approved', authcode: null, bank: {} },
    { kind: 'declined', code: 3101, bank: LONGEST },
  ])('stays as it is within its bounds', async (answer) => {
    expect(await told(answer)).toEqual(answer);
  });

  test('keeps its outcome, without what is too long', async () => {
    const { transactionId } = LONGEST;
    const approved = { kind: 'approved', authcode: 'a'.repeat(25), bank: { ...tooLong, transactionId } } as const;
    expect(await told(approved)).toEqual({ kind: 'approved', authcode: null, bank: { transactionId } });
    expect(await told({ kind: 'declined', code: 3101, bank: tooLong })).toEqual({
      kind: 'declined',
      code: 3101,
      bank: {},
    });
  });
});

test('a charge with an authcode that is too long can be told to its merchant', async () => {
  const connector = connectorReading({ kind: 'approved', authcode: 'a'.repeat(25), bank: {} });
  const answer = await connector.inquire(OPERATION);
  connector.close();
  const charged = answered(PAYMENTS.charging, 'SALE', answer as Settled);
  const stored: StoredPayment = { ...charged, _id: PAYMENT_ID, version: 1, eventSeq: 1, outbox: [] };
  const outcomes = outcomesOf(stored, { withHoldEnd: false });
  expect(outcomes).toMatchObject([{ status: 'success', authcode: null }]);
  expect(queries.operationsOfPayment.problem(outcomes)).toBeUndefined();
  expect(OperationReplied.problem(outcomes[0])).toBeUndefined();
});
