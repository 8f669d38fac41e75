import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { offer } from './offer';
import type { Insertion, OperationEntry, Ports } from './ports';

const ENTRY = {
  reference: 'ABCDEFGHIJKLMNOP0001',
  command: { type: 'SellCard', data: { withCvv: true } },
} as unknown as OperationEntry;

/** A vault that has gone away since it took the card, and a journal that answers in turn. */
function portsWith(...insertions: Insertion[]): Ports {
  return {
    journal: { insert: async () => insertions.shift() },
    vault: {
      dropCvv: async () => {
        throw new RetryableError('away');
      },
    },
    bus: { available: () => true },
    databaseAvailable: () => true,
    logger: silentLogger,
  } as unknown as Ports;
}

const prepare = async (): Promise<OperationEntry> => ENTRY;

test.each(['id-used', 'key-used'] as const)(
  '%s is a refusal, also when the CVV cannot be dropped',
  async (insertion) => {
    expect(await offer(portsWith(insertion), prepare)).toEqual({ kind: 'refused', entry: ENTRY });
  },
);

test('a reference that is taken is replaced, also when the CVV cannot be dropped', async () => {
  expect(await offer(portsWith('reference-taken', 'inserted'), prepare)).toEqual({ kind: 'accepted', entry: ENTRY });
});
