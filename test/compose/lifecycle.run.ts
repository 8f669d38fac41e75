import { until } from '@gateway/testing';
import { composed } from '../support/composed-system';
import type { PayoutClient } from '../support/payouts';
import { payoutClient } from '../support/payouts';
import type { Body, System } from '../support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem, tokenRequest } from '../support/system';
import type { Project, RunningContainer } from './project';
import { openProject } from './project';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const project: Project = openProject(composed);
const UP_TIMEOUT_MS = 400_000;

let system: System;
let merchant: PayoutClient;
beforeAll(async () => {
  system = await startSystem('lifecycle');
  merchant = payoutClient(system);
});

const send = async (fields: Body): Promise<Body> => (await system.send(fields)).data;
const lasting = ({ id, service, startedAt, running }: RunningContainer) =>
  running ? [{ id, service, startedAt }] : [];

async function up(): Promise<RunningContainer[]> {
  await project.compose('up', '-d');
  return project.ready();
}

test(
  'a second up changes nothing',
  async () => {
    const before = await project.ready();
    const sale = await send(cardRequest('SALE'));
    const after = await up();
    expect(after.flatMap(lasting)).toEqual(before.flatMap(lasting));
    expect(recordsOf(await send(checkOf({ reference: sale['reference'] })))).toMatchObject([{ status: 'SUCCESS' }]);
  },
  UP_TIMEOUT_MS,
);

test(
  'down and up keep the data',
  async () => {
    const sale = await send(cardRequest('SALE'));
    const { reference } = await merchant.pay();
    const paid = await merchant.ended({ reference });
    await project.compose('down');
    expect(await project.containers()).toEqual([]);
    await up();

    const record = await until('an answer', async () => {
      // Connections from before are closed.
      const checked = await send(checkOf({ reference: sale['reference'] })).catch(() => undefined);
      return checked === undefined ? undefined : recordsOf(checked)[0];
    });
    expect(record).toMatchObject({ reference: sale['reference'], status: 'SUCCESS', code: 0 });
    expect(await send(followUp('REFUND', sale['reference']))).toMatchObject({ status: 'success', code: 0 });
    expect(await send(tokenRequest('SALE', sale['token']))).toMatchObject({ status: 'success', code: 0 });
    expect(await merchant.ended({ reference })).toEqual(paid);
  },
  UP_TIMEOUT_MS,
);
