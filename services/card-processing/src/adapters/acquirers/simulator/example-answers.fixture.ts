import { createMetrics } from '@gateway/service-kit';
import type { AcquirerConnector } from '../../../application/ports';
import { openAcquirer } from '../acquirer';
import { simulatorTranslation } from './connector';

const OPERATION = { merchantAccount: 'merchant', reference: 'ABCDEFGHIJKLMNOP0001' };
const BANK = {
  id: '990001',
  name: 'Bank',
  descriptor: 'SHOP',
  advice: 'none',
  reasonCode: '0',
  reasonDescription: 'Approved',
};
const APPROVED = { transactionId: 'T1', authcode: 'A1B2C3', bank: BANK };

/** One answer to each kind of call, by its name. */
export const EXAMPLE_ANSWERS = {
  operation: { result: 'declined', code: '3101', transactionId: 'T1', bank: BANK },
  inquiry: { status: 'approved', ...APPROVED },
  cancellation: { status: 'already_processed', result: 'approved', ...APPROVED },
} as const;

export function openExample(url: string): AcquirerConnector {
  const env = { NODE_ENV: 'development', SIMULATOR_URL: url };
  const metrics = createMetrics('test', { processFigures: false });
  return openAcquirer('simulator', simulatorTranslation(env, 'yes'), { callsAtOnce: 2, metrics });
}

export function exampleCalls(url: string) {
  const connector = openExample(url);
  const sale = { ...OPERATION, currency: 'XTS', midReference: 'MD0123456789ABCDEF' };
  return {
    calls: {
      operation: () => connector.operate('sale', sale),
      inquiry: () => connector.inquire(OPERATION),
      cancellation: async () => connector.cancel?.(OPERATION),
    },
    close: () => connector.close(),
  };
}
