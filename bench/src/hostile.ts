import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RawText } from '@gateway/contracts';
import { parseFormBody, parseJsonBody } from '@gateway/api-edge/dist/domain/body';
import { CARD_FORM_FIELDS, readCardForm } from '@gateway/api-edge/dist/domain/card-form';
import { checkTable } from '@gateway/api-edge/dist/domain/field-check';
import { FIELD_MEANINGS } from '@gateway/api-edge/dist/domain/field-names';
import { cardTable } from '@gateway/api-edge/dist/domain/fields';
import { rawFields } from '@gateway/api-edge/dist/domain/raw-fields.fixture';
import { localeFor } from '@gateway/pages';
import { listen } from '@gateway/service-kit';
import * as simulator from '@gateway/simulator/dist/adapters/http/example-requests.fixture';
import type { ExampleAnswers, ExampleCalls, ExampleRequest } from '@gateway/testing';
import {
  createCertificate,
  HOSTILE_TEXTS,
  hostileAnswerPlaces,
  hostilePlaces,
  senderTo,
  startCounterpart,
} from '@gateway/testing';
import * as callbacks from '@gateway/callback-dispatcher/dist/adapters/http/example-answers.fixture';
import * as acquirer from '@gateway/card-processing/dist/adapters/acquirers/simulator/example-answers.fixture';
import * as bank from '@gateway/payout/dist/adapters/banks/simulator/example-answers.fixture';
import * as directory from '@gateway/threeds/dist/adapters/emv/example-answers.fixture';
import * as collector from '@gateway/tracing/dist/example-answers.fixture';
import * as keys from '@gateway/vault/dist/example-answers.fixture';
import * as threeds from '@gateway/threeds/dist/adapters/http/example-requests.fixture';

const KIB = 1024;
const LENGTH = 16 * KIB;
/** In a head, which has 16 KiB, and in a body. */
const REQUEST_LENGTHS = { head: 12_000, body: LENGTH } as const;
const RUNS = 10;
const NAME_WIDTH = 72;
const TARGET_MS = 1;
const NOW = Date.UTC(2026, 0, 1);

type Reader = (text: string) => unknown;

/** A service with a request of each of its routes. */
interface Example {
  readonly EXAMPLE_REQUESTS: readonly ExampleRequest[];
  exampleListener(): RequestListener;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const table = cardTable('SALE3D');
const PAN = { card_number: '4111111111111111' };
const TYPED = { ...PAN, card_exp: '09 / 30', cvv: '123', card_holder: 'Ann Lee' };

/** Every reader of the merchants' API and of the card-entry page, by name. */
const READERS: Readonly<Record<string, Reader>> = {
  JSON: (text) => void parseJsonBody(bytesOf(text)),
  'text in JSON': (text) => void parseJsonBody(bytesOf(JSON.stringify({ a: text }))),
  'name in JSON': (text) => void parseJsonBody(bytesOf(JSON.stringify({ [text]: 1 }))),
  form: (text) => void parseFormBody(bytesOf(text)),
  'value in a form': (text) => void parseFormBody(bytesOf(`a=${encodeURIComponent(text)}`)),
  'Accept-Language': (text) => void localeFor(new RawText(text)),
  'custom_ name': (text) => void checkTable(table, rawFields({ ...PAN, [`custom_${text}`]: 'x' }), NOW),
  ...Object.fromEntries(
    [...Object.keys(FIELD_MEANINGS), 'custom_note'].map((name): [string, Reader] => [
      `field ${name}`,
      (text) => void checkTable(table, rawFields({ ...PAN, [name]: text }), NOW),
    ]),
  ),
  ...Object.fromEntries(
    CARD_FORM_FIELDS.map((name): [string, Reader] => [
      `page field ${name}`,
      (text) => void readCardForm(rawFields({ ...TYPED, [name]: text })),
    ]),
  ),
};

/**
 * `npm run bench -- hostile`: the CPU time of every reader of text from outside, per KiB of the hostile text that costs
 * it most. For threeds and the simulator whole requests, with the text in each place of a request of each route, and for
 * counterparts whole calls, with the text in each place of an answer. Needs no servers.
 */
export async function runHostile(): Promise<void> {
  console.log(`${'reader'.padEnd(NAME_WIDTH)} |  ms per KiB  of`);
  let most = 0;
  for (const [name, reader] of Object.entries(READERS)) most = Math.max(most, await print(name, LENGTH, reader));
  most = Math.max(most, await measureRequests('threeds', threeds), await measureRequests('simulator', simulator));
  most = Math.max(most, await measureAnswers());
  if (most > TARGET_MS) throw new Error(`a reader takes more than ${TARGET_MS} ms of CPU per KiB`);
}

async function measureRequests(service: string, { EXAMPLE_REQUESTS, exampleListener }: Example): Promise<number> {
  const server = await listen({ listener: exampleListener(), port: 0, host: '127.0.0.1' });
  const sender = senderTo(server.port);
  let most = 0;
  for (const example of EXAMPLE_REQUESTS) {
    for (const { name, part, message } of hostilePlaces(example)) {
      const title = `${service} ${example.method} ${example.path}: ${name}`;
      most = Math.max(most, await print(title, REQUEST_LENGTHS[part], (text) => sender.send(message(text))));
    }
  }
  sender.close();
  await server.close(0);
  return most;
}

interface CounterpartExample {
  readonly EXAMPLE_ANSWERS: ExampleAnswers;
  /** @param ca PEM of its authority; the file has it too */
  open(url: string, ca: string, caFile: string): ExampleCalls | Promise<ExampleCalls>;
}

/** Every counterpart whose answers we read. The last two are called over TLS alone. */
const COUNTERPARTS: Readonly<Record<string, CounterpartExample & { isSecure?: true }>> = {
  acquirer: { ...acquirer, open: acquirer.exampleCalls },
  bank: { ...bank, open: bank.exampleCalls },
  'directory server': { ...directory, open: directory.exampleCalls },
  collector: { ...collector, open: collector.exampleCalls },
  receiver: { ...callbacks, open: callbacks.exampleCalls, isSecure: true },
  'key service': { ...keys, open: (url, _ca, caFile) => keys.exampleCalls(url, caFile), isSecure: true },
};

async function measureAnswers(): Promise<number> {
  const certificate = await createCertificate();
  const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-hostile-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
  Object.assign(process.env, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'none', AWS_SECRET_ACCESS_KEY: 'none' });
  let most = 0;
  for (const [name, { EXAMPLE_ANSWERS, open, isSecure }] of Object.entries(COUNTERPARTS)) {
    const counterpart = await startCounterpart(isSecure && certificate);
    const { calls, close } = await open(counterpart.url, certificate.cert, caFile);
    for (const [what, json] of Object.entries(EXAMPLE_ANSWERS)) {
      const call = calls[what] ?? (() => Promise.reject(new Error(`no call for the answer ${what}`)));
      for (const place of hostileAnswerPlaces(json)) {
        const read: Reader = (text) => counterpart.answering(place.message(text), call);
        most = Math.max(most, await print(`${name} ${what}: ${place.name}`, REQUEST_LENGTHS[place.part], read));
      }
    }
    close();
    await counterpart.close();
  }
  rmSync(folder, { recursive: true });
  return most;
}

/** @returns ms per KiB */
async function print(name: string, length: number, reader: Reader): Promise<number> {
  let dearest: readonly [what: string, msPerKib: number] = ['', 0];
  for (const [what, of] of Object.entries(HOSTILE_TEXTS)) {
    const msPerKib = await costOf(reader, of(length));
    if (msPerKib > dearest[1]) dearest = [what, msPerKib];
  }
  console.log(`${name.padEnd(NAME_WIDTH)} | ${dearest[1].toFixed(4).padStart(11)}  ${dearest[0]}`);
  return dearest[1];
}

/** In ms of user CPU time per KiB. */
async function costOf(reader: Reader, text: string): Promise<number> {
  await reader(text);
  const before = process.cpuUsage();
  for (let run = 0; run < RUNS; run += 1) await reader(text);
  return process.cpuUsage(before).user / 1_000 / RUNS / (text.length / KIB);
}
