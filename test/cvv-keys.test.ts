import { ConfigResourceTypes } from 'kafkajs';
import { CvvKeyIssued, Secret, TEST_CARDS } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import type { Collection, MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { kafkaOf, until } from '@gateway/testing';
import type { StoredCvv } from '@gateway/vault';
import { createKeyRing } from '@gateway/vault';
import { get, press } from './support/form-client';
import { freePort } from './support/free-port';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { ServiceProcess } from './support/processes';
import { build, startProcess } from './support/processes';
import type { System } from './support/system';
import { cardRequest, checkOf, clientOf, post, recordsOf, startSystem, tokenRequest } from './support/system';
import { readTopics } from './support/topics';

const MINUTE_MS = 60_000;

let system: System;
let merchant: Merchant;
let vault: MongoConnection;
let cvvs: Collection<StoredCvv>;
let processing: ServiceProcess;

beforeAll(async () => {
  await build();
  merchant = await startMerchant();
  const port = String(await freePort());
  system = await startSystem('cvvkeys', {
    withoutProcessor: true,
    settings: { CARD_QUERY_PORT: port, CARD_QUERY_URL: `http://127.0.0.1:${port}` },
  });
  await system.startThreeds();
  processing = await startProcess('card-processing', system.env);
  vault = await connectMongo({ uri: system.space.mongoUri, database: `${system.space.databasePrefix}vault` });
  cvvs = vault.collection('cvvs');
}, 180_000);

afterAll(async () => {
  await processing.end('SIGKILL');
  await vault.close();
  await system.stop();
  await merchant.close();
});

/** A SALE3D whose CVV waits for the end of a challenge. */
async function challengedSale(): Promise<{ reference: string; finish: () => Promise<void> }> {
  const urls = { callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` };
  const sale = cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa, ...urls });
  const { data } = await system.send(sale);
  expect(data).toMatchObject({ status: 'success', message: '3D Secure authentication started' });
  const reference = String(data['reference']);
  expect(await cvvs.countDocuments({ _id: reference })).toBe(1);
  return {
    reference,
    async finish() {
      const issuer = await press(await get(String(data['acs_url'])));
      await press(issuer, /success/i);
    },
  };
}

async function endOf(reference: string) {
  return until('the end of the operation', async () => {
    const [record] = recordsOf((await system.send(checkOf({ reference }))).data);
    return record?.status === 'PENDING' ? undefined : record;
  });
}

test('a CVV survives kill -9 of card-processing and the end of the edge that took it', async () => {
  const { reference, finish } = await challengedSale();
  await processing.end('SIGKILL');
  await system.edge.stop();
  processing = await startProcess('card-processing', system.env);
  await system.startEdge({ PORT: new URL(system.env['PUBLIC_BASE_URL'] ?? '').port });
  await finish();
  expect(await endOf(reference)).toMatchObject({ status: 'SUCCESS', code: 0 });
  expect(await system.ledger(reference)).toMatchObject([{ operation: 'sale', effect: 'sold' }]);
});

test('without its key, neither the services nor a thief of everything else read a CVV', async () => {
  const { reference, finish } = await challengedSale();
  // A backup: the database as it was, and every key that lives longer than a few minutes.
  const stolen = (await cvvs.findOne({ _id: reference }, { promoteBuffers: true })) as StoredCvv;
  const keys = Object.values(system.env).flatMap(keysIn);
  expect(keys.length).toBeGreaterThanOrEqual(7);

  await destroyKeys();
  await processing.end('SIGKILL');
  processing = await startProcess('card-processing', system.env);
  await finish();
  expect(await endOf(reference)).toMatchObject({ status: 'ERROR', code: 3000 });
  expect(await system.ledger(reference)).toEqual([]);

  const aad = `cvv\0${reference}\0${stolen.storedAt.getTime()}`;
  for (const key of keys) {
    const ring = createKeyRing({
      setting: 'stolen',
      active: { id: stolen.keyId, key },
      all: [{ id: stolen.keyId, key }],
      find: () => key,
    });
    expect(() => ring.decrypt(stolen, aad)).toThrow('was written under another key');
  }
});

test('when no key can be published, the edge uses its last one to its end, then refuses what has a CVV at once', async () => {
  let aheadMs = 0;
  const edge = await system.startEdge({}, { now: () => Date.now() + aheadMs });
  const http = clientOf(edge.ports.api);
  const sale = async () => (await post(http, cardRequest('SALE'))).status;
  const { token } = (await post(http, cardRequest('SALE'))).data;
  expect(token).toEqual(expect.any(String));

  await configureKeys({ 'max.message.bytes': '1' });
  aheadMs = 4.5 * MINUTE_MS;
  expect(await sale()).toBe(200);
  aheadMs = 6 * MINUTE_MS;
  const begun = performance.now();
  expect(await sale()).toBe(503);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect((await post(http, tokenRequest('SALE', token))).data).toMatchObject({ status: 'success' });

  await configureKeys({});
  await until('a key is published', async () => (await sale()) === 200);
});

/** The keys of a setting. */
function keysIn(value: string): Secret<Buffer>[] {
  const entries = value.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1));
  const keys = entries.map((text) => Buffer.from(text, 'base64'));
  return keys.filter((key) => key.length === 32).map((key) => new Secret(key));
}

/** Gives the topic of the keys these settings. Kafka resets all others. */
async function configureKeys(settings: Readonly<Record<string, string>>): Promise<void> {
  const admin = kafkaOf(system.space).admin();
  await admin.connect();
  try {
    const name = topicOf(system.space.topicPrefix, CvvKeyIssued.topic);
    const configEntries = Object.entries(settings).map(([setting, value]) => ({ name: setting, value }));
    const resources = [{ type: ConfigResourceTypes.TOPIC, name, configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
  } finally {
    await admin.disconnect();
  }
}

/** What the brokers do when the retention of the topic is over. */
async function destroyKeys(): Promise<void> {
  const topic = topicOf(system.space.topicPrefix, CvvKeyIssued.topic);
  const admin = kafkaOf(system.space).admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
    await admin.deleteTopicRecords({ topic, partitions });
  } finally {
    await admin.disconnect();
  }
  expect(await readTopics(system.space, [topic])).toEqual([]);
}
