import type { SimulatedMoney } from '@gateway/contracts';
import { simulatorTakes } from '@gateway/contracts';
import type { Terminal } from './account';

/** The connectors that a terminal may name. card-processing has one for each of them: see its `CONNECTORS`. */
export const ACQUIRERS = ['simulator'] as const;
export type AcquirerName = (typeof ACQUIRERS)[number];

/** The sandbox connector. The test currency always goes there. */
export const SANDBOX_ACQUIRER = 'simulator' satisfies AcquirerName;

/** True for a terminal that takes a real currency to the simulator, where that is not allowed. */
export function isSimulated(
  { acquirer, currency }: Pick<Terminal, 'acquirer' | 'currency'>,
  simulatedMoney: SimulatedMoney,
): boolean {
  return acquirer === SANDBOX_ACQUIRER && !simulatorTakes(currency, simulatedMoney);
}
