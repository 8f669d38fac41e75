import { randomBytes, randomInt } from 'node:crypto';
import type { SimulatedMoney } from '@gateway/contracts';
import { TEST_CURRENCY } from '@gateway/contracts';
import type { Terminal } from './account';
import { AccountError } from './account-error';
import { isSimulated, SANDBOX_ACQUIRER } from './acquirers';

const MID_ID_DIGITS = 10;
const SIMULATOR_RULE = `The simulator takes ${TEST_CURRENCY} alone`;

export interface NewTerminal {
  currency: string;
  /** Name of a connector; the simulator by default. */
  acquirer?: string;
  holdSeconds?: number;
  lateVoid?: boolean;
  /** Account and currency by default. */
  name?: string;
}

/** Terminals are named by their `mid_reference`. */
export interface TerminalChanges {
  addTerminals?: readonly NewTerminal[] | undefined;
  activateTerminals?: readonly string[] | undefined;
  deactivateTerminals?: readonly string[] | undefined;
  removeTerminals?: readonly string[] | undefined;
}

/** Makes and changes terminals, by the connectors and the money of this installation. Throws {@link AccountError}. */
export interface Terminals {
  create(merchantAccount: string, given: readonly NewTerminal[]): Terminal[];
  change(merchantAccount: string, before: readonly Terminal[], changes: TerminalChanges): Terminal[];
  /** Terminals that are about to take payments. */
  requireRealMoney(terminals: readonly Terminal[]): void;
}

/** @param options.acquirers the connectors that a terminal may name */
export function createTerminals(options: { acquirers: readonly string[]; simulatedMoney: SimulatedMoney }): Terminals {
  const { acquirers, simulatedMoney } = options;

  function create(merchantAccount: string, given: readonly NewTerminal[]): Terminal[] {
    const terminals = given.map((one) => newTerminal(merchantAccount, one));
    const unknown = terminals.find(({ acquirer }) => !acquirers.includes(acquirer));
    if (unknown !== undefined) {
      const known = acquirers.join(', ');
      throw new AccountError('invalid', `There is no connector "${unknown.acquirer}"; there are: ${known}.`);
    }
    const simulated = terminals.find((one) => isSimulated(one, simulatedMoney));
    if (simulated === undefined) return terminals;
    const { currency } = simulated;
    throw new AccountError('invalid', `${SIMULATOR_RULE}: name another connector for the terminal in ${currency}.`);
  }

  function requireRealMoney(terminals: readonly Terminal[]): void {
    const simulated = terminals.filter((one) => one.active && isSimulated(one, simulatedMoney));
    if (simulated.length === 0) return;
    const list = simulated.map(({ midReference, currency }) => `${midReference} (${currency})`).join(', ');
    throw new AccountError('refused', `${SIMULATOR_RULE}, but it is the acquirer of ${list}: deactivate or remove it.`);
  }

  function change(merchantAccount: string, before: readonly Terminal[], changes: TerminalChanges): Terminal[] {
    const { addTerminals, activateTerminals, deactivateTerminals, removeTerminals } = changes;
    let terminals = [...before];
    terminals.push(...create(merchantAccount, addTerminals ?? []));
    for (const midReference of removeTerminals ?? []) {
      requireTerminal(terminals, midReference);
      terminals = terminals.filter((one) => one.midReference !== midReference);
    }
    terminals = switched(switched(terminals, activateTerminals ?? [], true), deactivateTerminals ?? [], false);
    requireRealMoney(terminals.filter(({ midReference }) => activateTerminals?.includes(midReference)));
    return terminals;
  }

  return { create, change, requireRealMoney };
}

function newTerminal(merchantAccount: string, given: NewTerminal): Terminal {
  return {
    midReference: `MD${randomBytes(7).toString('hex').toUpperCase()}`,
    midId: String(randomInt(10 ** (MID_ID_DIGITS - 1), 10 ** MID_ID_DIGITS)),
    name: given.name ?? `${merchantAccount} ${given.currency}`,
    currency: given.currency,
    acquirer: given.acquirer ?? SANDBOX_ACQUIRER,
    active: true,
    ...(given.holdSeconds === undefined ? {} : { holdSeconds: given.holdSeconds }),
    lateVoid: given.lateVoid ?? false,
  };
}

function switched(terminals: readonly Terminal[], midReferences: readonly string[], active: boolean): Terminal[] {
  for (const midReference of midReferences) requireTerminal(terminals, midReference);
  return terminals.map((one) => (midReferences.includes(one.midReference) ? { ...one, active } : one));
}

function requireTerminal(terminals: readonly Terminal[], midReference: string): void {
  if (terminals.some((one) => one.midReference === midReference)) return;
  throw new AccountError('invalid', `The account has no terminal "${midReference}".`);
}
