import { Type } from '@sinclair/typebox';
import { TEST_CURRENCY } from './currencies';

/** Setting of everything that sends money to the simulator, and of the simulator itself. */
export const simulatedMoneySettings = {
  ALLOW_SIMULATED_MONEY: Type.Union([Type.Literal('yes'), Type.Literal('no')], {
    default: 'no',
    description: '`yes` lets the simulator take real currencies; otherwise it takes XTS alone',
  }),
};

/** Whether the simulator may take real currencies. */
export type SimulatedMoney = 'yes' | 'no';

/** The simulator says yes and moves no money. So it takes real currencies only where none of them is real. */
export function simulatorTakes(currency: string, simulatedMoney: SimulatedMoney): boolean {
  return currency === TEST_CURRENCY || simulatedMoney === 'yes';
}

/** A rule of the production profile (docs/adr/0039). */
export function noSimulatedMoney(config: { ALLOW_SIMULATED_MONEY: SimulatedMoney }): string | undefined {
  return config.ALLOW_SIMULATED_MONEY === 'yes'
    ? 'ALLOW_SIMULATED_MONEY is yes, so that the simulator approves payments in real currencies.'
    : undefined;
}
