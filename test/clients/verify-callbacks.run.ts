import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@gateway/contracts';
import { signDelivery } from '@gateway/callback-dispatcher/dist/application/sign-delivery';
import { readDocument } from '../documents/blocks';
import type { Page } from './page';
import { openPage, SECTION_TIMEOUT_MS } from './page';

/** The programs of docs/verify-callbacks.md, with callbacks that the gateway signs, and with others. */

const PASSWORD = 'demo_password';
const [WEBHOOK_SECRET, NEXT_SECRET] = [7, 8].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
const TOLERANCE_SECONDS = 5 * 60;

interface Sent {
  body: string | Buffer;
  id: string;
  timestamp: string;
  signature: string;
}

/** As the gateway sends it. `message` has what forms encode. */
async function signed({
  ageSeconds = 0,
  secrets = [WEBHOOK_SECRET],
}: { ageSeconds?: number; secrets?: unknown[] } = {}) {
  const delivery = {
    _id: 'callback-1',
    kind: 'card',
    merchantAccount: 'demo_merchant',
    sequence: 1,
    fields: [
      ['token', '8f4c'],
      ['reference', 'R1'],
      ['transaction_unique_id', 'order-1'],
      ['status', 'success'],
      ['code', '0'],
      ['message', 'Café + tea | 100% & more = "x" 🙂'],
      ['custom_card_bank', ''],
      ['custom_1', '= comes after 1'],
      ['custom_', 'and yet before custom_1'],
    ],
  };
  const merchant = {
    secret: async () => new Secret(PASSWORD),
    webhookSecrets: async () => secrets.map((secret) => new Secret(String(secret))),
  };
  const ports = { merchants: { find: async () => merchant }, now: () => Date.now() - ageSeconds * 1000 };
  const callback = await signDelivery(
    ports as unknown as Parameters<typeof signDelivery>[0],
    delivery as unknown as Parameters<typeof signDelivery>[1],
  );
  if ('problem' in callback) throw new Error(callback.problem);
  const { body, headers } = callback;
  return {
    body,
    id: headers['webhook-id'] ?? '',
    timestamp: headers['webhook-timestamp'] ?? '',
    signature: headers['webhook-signature'] ?? '',
  };
}

/** The example of merchant.md, which has no headers. */
function workedExample(): Sent {
  const [, body = ''] = /^(token=\S+&checkSum=[0-9a-f]{64})$/m.exec(readDocument('docs/merchant.md')) ?? [];
  return { body, id: '', timestamp: '', signature: '' };
}

let page: Page;
beforeAll(() => (page = openPage('docs/verify-callbacks.md')));
afterAll(() => page.close());

test.each(['Node', 'Python', 'Go', 'Java', 'PHP', 'Ruby'])(
  'the program in %s tells callbacks of the gateway from others',
  async (title) => {
    const commands = page.write(title);
    const program = commands.pop() ?? '';
    await page.run(commands.join('\n'));
    const secrets = { GATEWAY_PASSWORD: PASSWORD, WEBHOOK_SECRET };
    const run = async ({ body, id, timestamp, signature }: Sent, env: NodeJS.ProcessEnv = secrets) => {
      writeFileSync(join(page.folder, 'callback.txt'), body);
      const printed = await page.run(program, { ID: id, TIMESTAMP: timestamp, SIGNATURE: signature, ...env });
      return printed.join(' ').toLowerCase();
    };
    const answer = (checkSum: boolean, signature: boolean) => `checksum ${checkSum} signature ${signature}`;

    const genuine = await signed();
    expect(await run(genuine)).toBe(answer(true, true));
    expect(await run(await signed({ secrets: [NEXT_SECRET, WEBHOOK_SECRET] }))).toBe(answer(true, true));
    expect(await run(workedExample())).toBe(answer(true, false));
    for (const ageSeconds of [-TOLERANCE_SECONDS - 60, TOLERANCE_SECONDS + 1])
      expect(await run(await signed({ ageSeconds }))).toBe(answer(true, false));
    expect(await run(await signed({ secrets: [NEXT_SECRET] }))).toBe(answer(true, false));
    expect(await run({ ...genuine, id: 'callback-2' })).toBe(answer(true, false));
    for (const signature of ['', 'v1', 'v1,', 'v1,%%%', `v2,${genuine.signature.slice(3)}`, 'é', ' '])
      expect(await run({ ...genuine, signature })).toBe(answer(true, false));
    for (const timestamp of ['', '0', 'now', `${genuine.timestamp}0`])
      expect(await run({ ...genuine, timestamp })).toBe(answer(true, false));
    const forged = [
      genuine.body.replace('code=0', 'code=1'),
      `${genuine.body}&status=decline`,
      `status=decline&${genuine.body}`,
      genuine.body.replace(/checkSum=.*/, 'checkSum=%C3%A9'),
      'checkSum',
      '%ZZ=%&checkSum=%',
      '',
      Buffer.from([0xff, 0xfe, 0x3d]),
    ];
    for (const body of forged) expect(await run({ ...genuine, body })).toBe(answer(false, false));
    await expect(run(genuine, { ...secrets, GATEWAY_PASSWORD: '' })).rejects.toThrow();
    await expect(run(genuine, { ...secrets, WEBHOOK_SECRET: '' })).rejects.toThrow();
  },
  SECTION_TIMEOUT_MS,
);
