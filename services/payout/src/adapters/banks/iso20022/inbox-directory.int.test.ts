import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testServers } from '@gateway/testing';
import type { OwnRecords } from './inbox.fixture';
import { emit, leaseOf, NOON, openInbox, openOwnRecords } from './inbox.fixture';
import { pain002 } from './iso20022.fixture';

const LEASE_MS = 30_000;
const GIVE_UP_AFTER_MS = 600_000;

let own: OwnRecords;
beforeAll(async () => {
  own = await openOwnRecords(testServers().mongoUri);
});
beforeEach(() => own.empty());
afterAll(() => own.close());

const emitted = (message: string, ...references: string[]) => emit(own.records, message, ...references);
const bench = (beforeCheck?: (xml: Uint8Array) => Promise<void>) =>
  openInbox(own.records, own.schemaCheck, beforeCheck);

/** Rejects one transaction by name. */
const rejecting = (message: string, reference: string) =>
  pain002({ message, id: 'REPORT-1', transactions: [{ reference, status: 'RJCT', reason: 'AC04' }] });
const settlingAll = (message: string) => pain002({ message, id: 'REPORT-2', group: 'ACSC' });

const FAULT = new Error('the schema worker has ended');

describe('a report that cannot be read yet', () => {
  it('because its schema check fails once is applied before a later one on its message', async () => {
    await emitted('M1', 'T1', 'T2');
    let checks = 0;
    const at = await bench(() => ((checks += 1) === 1 ? Promise.reject(FAULT) : Promise.resolve()));
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    await at.round();
    expect(at.told).toEqual([]);
    await at.round();
    expect(at.told).toEqual(['T1 declined', 'T2 settled']);
    expect(at.files('done')).toEqual(['1.xml', '2.xml']);
  });

  it('because the database fails once is applied before a later one on its message', async () => {
    await emitted('M1', 'T1', 'T2');
    const at = await bench();
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    const findOne = jest.spyOn(own.records.reports, 'findOne').mockRejectedValueOnce(new Error('no primary'));
    await at.round();
    findOne.mockRestore();
    expect(at.told).toEqual([]);
    await at.round();
    expect(at.told).toEqual(['T1 declined', 'T2 settled']);
  });
});

describe('a report that can never be read', () => {
  /** Fails for reports on `M1`. */
  const failing = (xml: Uint8Array) =>
    Buffer.from(xml).includes('<OrgnlMsgId>M1<') ? Promise.reject(FAULT) : Promise.resolve();

  it('is set aside after a while, and the others are applied', async () => {
    await emitted('M2', 'T3');
    const at = await bench(failing);
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M2'));
    await at.round();
    at.clock.now += GIVE_UP_AFTER_MS - 1;
    await at.round();
    expect([at.files(), at.told]).toEqual([['1.xml', '2.xml'], []]);
    at.clock.now += 1;
    await at.round();
    expect(at.problemsOf('1.xml')).toEqual([expect.stringContaining(FAULT.message)]);
    expect([at.files(), at.told]).toEqual([[], ['T3 settled']]);
  });

  it('is set aside although an earlier one stays in the inbox', async () => {
    await emitted('M2', 'T3');
    await emitted('M3', 'T4');
    const at = await bench(failing);
    at.deliver('1.xml', settlingAll('M2'));
    at.deliver('2.xml', rejecting('M1', 'T1'));
    at.deliver('3.xml', settlingAll('M3'));
    const isAway = (reference: string) => (reference === 'T3' ? Promise.reject(FAULT) : Promise.resolve());
    await at.round(isAway);
    at.clock.now += GIVE_UP_AFTER_MS;
    await at.round(isAway);
    expect([at.files(), at.files('failed'), at.told]).toEqual([['1.xml'], ['2.xml'], ['T4 settled']]);
  });

  it('gets no more time by a new date, and none under the name of an earlier one', async () => {
    await emitted('M2', 'T3');
    const at = await bench(failing);
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M2'));
    for (let minutes = 0; minutes < 10; minutes += 9) {
      await at.round();
      at.clock.now += 9 * 60_000;
      at.deliver('1.xml', rejecting('M1', 'T1'));
      at.touch('1.xml', NOON - 120_000);
    }
    await at.round();
    expect([at.files(), at.told]).toEqual([[], ['T3 settled']]);
  });

  it('delays the others no longer if it cannot be moved either, and is not applied after them', async () => {
    await emitted('M1', 'T1', 'T2');
    let faults = Infinity;
    const at = await bench(() => ((faults -= 1) > 0 ? Promise.reject(FAULT) : Promise.resolve()));
    rmdirSync(join(at.directory, 'failed'));
    writeFileSync(join(at.directory, 'failed'), '');
    at.deliver('1.xml', rejecting('M1', 'T1'));
    at.deliver('2.xml', settlingAll('M1'));
    await at.round();
    at.clock.now += GIVE_UP_AFTER_MS;
    faults = 2;
    await at.round();
    expect([at.files(), at.told]).toEqual([['1.xml'], ['T1 settled', 'T2 settled']]);
    rmSync(join(at.directory, 'failed'));
    mkdirSync(join(at.directory, 'failed'));
    await at.round();
    expect(at.told).toHaveLength(2);
    expect(at.problemsOf('1.xml')).toEqual([expect.stringContaining('later reports have been applied')]);
  });
});

describe('the lease of a reader', () => {
  it('is renewed after the schema check', async () => {
    await emitted('M1', 'T1');
    const at = await bench(async () => void (at.clock.now += LEASE_MS - 1));
    at.deliver('1.xml', settlingAll('M1'));
    const taken: boolean[] = [];
    await at.round(async () => {
      at.clock.now += LEASE_MS - 1;
      taken.push(await leaseOf(own.records, 'another', at.clock).take());
    });
    expect(taken).toEqual([false]);
  });

  it('that another replica got during the schema check ends the round', async () => {
    await emitted('M1', 'T1');
    const at = await bench(async () => {
      at.clock.now += LEASE_MS;
      await leaseOf(own.records, 'another', at.clock).take();
    });
    at.deliver('1.xml', settlingAll('M1'));
    await expect(at.round()).rejects.toThrow('another replica reads the inbox now');
    expect(at.told).toEqual([]);
  });
});
