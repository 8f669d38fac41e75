import { TEST_CURRENCY } from '@gateway/contracts';
import { ConfigurationError } from '@gateway/service-kit';
import type { BankContext, OpenBank } from './bank-context';
import { createIso20022Connector } from './iso20022/connector';
import { createSimulatorConnector } from './simulator/connector';

/** The sandbox's bank, the only one for the test currency. */
const SANDBOX_BANK = 'simulator';
/** Payouts in EUR wait until there is one. */
const NO_BANK = 'none';

/** All connectors. To add one, add a folder beside `simulator/` and a line here. */
const FACTORIES: Record<string, (context: BankContext) => OpenBank | Promise<OpenBank>> = {
  [SANDBOX_BANK]: createSimulatorConnector,
  iso20022: createIso20022Connector,
};

export interface Banks {
  readonly all: readonly OpenBank[];
  /** Of all banks; 0 if there are none. */
  readonly longestCallMs: number;
  get(name: string): OpenBank | undefined;
  /** Name of the connector for a currency. */
  nameFor(currency: string): string;
}

/**
 * Opens the sandbox's bank, where it has an address, and the configured one.
 *
 * @throws ConfigurationError for an unknown name, and for the simulator where it must not take EUR.
 */
export async function openBanks(payoutBank: string, context: BankContext): Promise<Banks> {
  if (payoutBank === SANDBOX_BANK && context.simulatedMoney === 'no') {
    throw new ConfigurationError(
      `PAYOUT_BANK is ${SANDBOX_BANK}, which takes ${TEST_CURRENCY} alone: ` +
        'name the connector of a bank, or set ALLOW_SIMULATED_MONEY=yes where no money is real.',
    );
  }
  const banks = new Map<string, OpenBank>();
  for (const name of wantedBanks(payoutBank, context)) {
    const create = FACTORIES[name];
    if (create === undefined) {
      throw new ConfigurationError(
        `PAYOUT_BANK is ${name}; there are ${[...Object.keys(FACTORIES), NO_BANK].join(', ')}.`,
      );
    }
    banks.set(name, await create(context));
  }
  if (payoutBank === SANDBOX_BANK)
    context.logger.warn('payouts in EUR go to the sandbox, which pays no one: see PAYOUT_BANK');
  return {
    all: [...banks.values()],
    longestCallMs: Math.max(0, ...[...banks.values()].map(({ longestCallMs }) => longestCallMs)),
    get: (name) => banks.get(name),
    nameFor: (currency) => (currency === TEST_CURRENCY ? SANDBOX_BANK : payoutBank),
  };
}

function wantedBanks(payoutBank: string, { env }: BankContext): Set<string> {
  const sandbox = env['SIMULATOR_URL'] ? [SANDBOX_BANK] : [];
  return new Set([...sandbox, ...(payoutBank === NO_BANK ? [] : [payoutBank])]);
}
