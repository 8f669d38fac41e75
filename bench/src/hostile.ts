import { RawText } from '@gateway/contracts';
import { parseFormBody, parseJsonBody } from '@gateway/api-edge/dist/domain/body';
import { CARD_FORM_FIELDS, readCardForm } from '@gateway/api-edge/dist/domain/card-form';
import { checkTable } from '@gateway/api-edge/dist/domain/field-check';
import { FIELD_MEANINGS } from '@gateway/api-edge/dist/domain/field-names';
import { cardTable } from '@gateway/api-edge/dist/domain/fields';
import { HOSTILE_TEXTS } from '@gateway/api-edge/dist/domain/hostile-texts.fixture';
import { rawFields } from '@gateway/api-edge/dist/domain/raw-fields.fixture';
import { localeFor } from '@gateway/pages';

const KIB = 1024;
const LENGTH = 16 * KIB;
const RUNS = 50;
const TARGET_MS = 1;
const NOW = Date.UTC(2026, 0, 1);

type Reader = (text: string) => void;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const table = cardTable('SALE3D');
const PAN = { card_number: '4111111111111111' };
const TYPED = { ...PAN, card_exp: '09 / 30', cvv: '123', card_holder: 'Ann Lee' };

/** Every reader of text from outside, by name. */
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
 * it most. Needs no servers.
 */
export async function runHostile(): Promise<void> {
  let isTooMuch = false;
  console.log('reader                                   |  ms per KiB  of');
  for (const [name, reader] of Object.entries(READERS)) {
    const [what, ms] = dearest(reader);
    isTooMuch ||= ms > TARGET_MS;
    console.log(`${name.padEnd(40)} | ${ms.toFixed(4).padStart(11)}  ${what}`);
  }
  if (isTooMuch) throw new Error(`a reader takes more than ${TARGET_MS} ms of CPU per KiB`);
}

function dearest(reader: Reader): readonly [what: string, msPerKib: number] {
  const costs = Object.entries(HOSTILE_TEXTS).map(([what, of]) => [what, costOf(reader, of(LENGTH))] as const);
  return costs.reduce((most, one) => (one[1] > most[1] ? one : most));
}

/** In ms of user CPU time per KiB. */
function costOf(reader: Reader, text: string): number {
  reader(text);
  const before = process.cpuUsage();
  for (let run = 0; run < RUNS; run += 1) reader(text);
  return process.cpuUsage(before).user / 1_000 / RUNS / (LENGTH / KIB);
}
