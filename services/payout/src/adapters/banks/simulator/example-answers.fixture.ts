import { createLogger, createMetrics } from '@gateway/service-kit';
import type { BankContext } from '../bank-context';
import { createSimulatorConnector } from './connector';

const MERCHANT = 'merchant';
const REFERENCE = 'ABCDEFGHIJKLMNOP0001';
const BANK = { id: '77', name: 'Bank', advice: 'none', reasonCode: 'ACSC', reasonDescription: 'Settled' };

/** One answer to each kind of call, by its name. */
export const EXAMPLE_ANSWERS = {
  submission: { result: 'declined', code: '3101', transactionId: 'T1', bank: BANK },
  inquiry: { status: 'settled', transactionId: 'T1', bank: BANK },
  cancellation: { status: 'failed', code: '3310', transactionId: 'T1', bank: BANK },
} as const;

export function exampleCalls(url: string) {
  const connector = createSimulatorConnector({
    env: { NODE_ENV: 'development', SIMULATOR_URL: url },
    simulatedMoney: 'yes',
    callsAtOnce: 4,
    metrics: createMetrics('test', { processFigures: false }),
    logger: createLogger({ service: 'test', level: 'silent' }),
  } as Partial<BankContext> as BankContext);
  const instruction = {
    ...{ reference: REFERENCE, merchantAccount: MERCHANT, amountE4: 100_000, currency: 'XTS', instant: false },
    ...{
      receiver: { name: 'Ann Lee', iban: 'DE89370400440532013000', address: {} },
      description: 'An order',
      acceptedAt: 0,
    },
  };
  return {
    calls: {
      submission: () => connector.submit(instruction),
      inquiry: () => connector.inquire(REFERENCE, MERCHANT),
      cancellation: async () => connector.cancel?.(REFERENCE, MERCHANT),
    },
    close: () => void connector.stop(),
  };
}
