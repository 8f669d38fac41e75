import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectMongo } from '@gateway/mongo';
import { DEBTOR, openConnector } from './pain001-connector';
import type { OnEnd } from './run';
import { startServers } from './servers';
import { serviceOptions } from './service-processes';
import type { CutFigures } from './pain001-writer';

const PAYOUTS = 10_000;
/** Submissions on their way together. */
const ABREAST = 64;

/**
 * `npm run bench -- pain001`: freezes 10,000 payouts into one pain.001, writes it, validates it by its schema and moves
 * it into the outbox, in a separate process, and reports its time and peak memory. Uses the MongoDB that MONGODB_URI
 * names, else starts one.
 */
export async function runPain001(onEnd: OnEnd): Promise<void> {
  const { mongodbUri } = await startServers(onEnd);
  const folder = mkdtempSync(join(tmpdir(), 'bench-pain001-'));
  onEnd(() => rmSync(folder, { recursive: true }));
  const database = `bench-${randomBytes(3).toString('hex')}-payouts`;
  onEnd(() => drop(mongodbUri, database));
  const env = settings(folder);
  await fill({ uri: mongodbUri, database, env });
  print(await cut(env, mongodbUri, database), folder);
}

function settings(folder: string): Record<string, string> {
  const debtors = join(folder, 'debtors.json');
  writeFileSync(debtors, JSON.stringify([{ name: 'Gateway Ltd', iban: DEBTOR, bic: 'COBADEFFXXX' }]));
  return {
    ISO20022_OUTBOX_DIR: join(folder, 'outbox'),
    ISO20022_INBOX_DIR: join(folder, 'inbox'),
    ISO20022_DEBTORS: debtors,
    ISO20022_INITIATING_PARTY: 'Gateway Ltd',
  };
}

async function fill(at: { uri: string; database: string; env: Record<string, string> }): Promise<void> {
  const mongo = await connectMongo(at);
  const connector = await openConnector(mongo, at.env);
  for (let first = 0; first < PAYOUTS; first += ABREAST) {
    const references = Array.from({ length: Math.min(ABREAST, PAYOUTS - first) }, (_, index) => first + index);
    await Promise.all(references.map((number) => connector.submit(payout(number))));
  }
  await mongo.close();
}

/** With all optional fields of a receiver. */
function payout(number: number) {
  return {
    reference: String(number).padStart(20, '0'),
    merchantAccount: 'bench_payouts',
    amountE4: (number + 1) * 100,
    currency: 'EUR',
    instant: false,
    receiver: {
      iban: 'NL91ABNA0417164300',
      bic: 'ABNANL2A',
      name: `Zoë Ångström-Müller ${number}`,
      address: {
        street: 'Königin-Luise-Straße',
        buildingNumber: '17 a',
        apartment: 'Top 12',
        zip: '14195',
        city: 'Köln',
        country: 'DEU',
      },
    },
    description: `Winnings of the game no. ${number}, paid out as you asked us to; thank you for playing & see you again`,
    acceptedAt: Date.now(),
    debtor: DEBTOR,
  };
}

async function cut(env: Record<string, string>, uri: string, database: string): Promise<CutFigures> {
  const options = await serviceOptions();
  const child = fork(join(__dirname, 'pain001-writer.js'), [uri, database], {
    execArgv: options.execArgv,
    env: { ...options.env, ...process.env, ...env },
  });
  const [figures] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the writer ended without figures'))),
  ])) as [CutFigures];
  return figures;
}

function print({ payouts, seconds, beforeMiB, peakMiB }: CutFigures, folder: string): void {
  const outbox = join(folder, 'outbox');
  const [file = ''] = readdirSync(outbox).filter((name) => name.endsWith('.xml'));
  const fileMiB = statSync(join(outbox, file)).size / 1024 / 1024;
  console.log(`\n${payouts} payouts in one validated pain.001 of ${fileMiB.toFixed(1)} MiB`);
  console.log(`time        ${seconds.toFixed(2).padStart(8)} s    (target 10)`);
  console.log(
    `peak memory ${peakMiB.toFixed(0).padStart(8)} MiB  (target 300; ${beforeMiB.toFixed(0)} before the cut)`,
  );
}

async function drop(uri: string, database: string): Promise<void> {
  const mongo = await connectMongo({ uri, database });
  await mongo.mongoose.dropDatabase();
  await mongo.close();
}
