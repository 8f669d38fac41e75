import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@gateway/testing';
import { CREDENTIALS } from '../../support/system';
import { runScript } from '../../support/processes';
import type { World } from '../world';

const CLI = 'libs/audit/dist/cli.js';

/** An audit log that ends before what was done last, as whoever writes to its database can leave it. */
export function attackAuditLog(world: () => World): void {
  const moveClock = () => world().send({ ...CREDENTIALS, advance: 1 }, '/api/sandbox/clock');

  test('a truncated log passes the check of its chain, and never verifies, whatever anchors are forged for it', async () => {
    for (let moves = 0; moves < 2; moves += 1) expect(await moveClock()).toMatchObject({ code: 0 });
    const folder = mkdtempSync(join(tmpdir(), 'security-audit-'));
    const anchors = join(folder, 'gateway.log');
    const { output: AUDIT_ANCHOR_PUBLIC_KEY } = await runScript('libs/vault/dist/cli.js', world().env, ['anchor-key']);
    const env = { ...world().env, AUDIT_ANCHOR_PUBLIC_KEY: AUDIT_ANCHOR_PUBLIC_KEY.trim() };
    const audit = (...args: string[]) => runScript(CLI, env, args);
    const verify = (...lines: string[]) => {
      writeFileSync(anchors, lines.join('\n'));
      return audit('verify', '--anchors', anchors);
    };
    try {
      const entries = world().storage.collection('audit', 'entries');
      const [last, before] = await entries.find().sort({ _id: -1 }).limit(2).toArray();
      if (last === undefined || before === undefined) throw new Error('the log is empty');
      const signed = await until('an anchor of the head is signed', () =>
        signedAnchors(world()).find((line) => (fieldsOf(line)['sequence'] as number) >= Number(last._id)),
      );
      expect(await verify(signed)).toMatchObject({ code: 0 });
      await entries.deleteOne({ _id: last._id });
      expect(await audit('check')).toMatchObject({ code: 0 });
      expect(await verify(signed)).toMatchObject({
        code: 1,
        output: expect.stringContaining('tampered with: the log ends before entry') as string,
      });
      expect(await audit('verify')).toMatchObject({ code: 1 });
      const forged = { ...fieldsOf(signed), sequence: before._id, hash: before['hash'] as string };
      expect(await verify(JSON.stringify({ ...forged, signature: undefined }))).toMatchObject({
        code: 1,
        output: expect.stringContaining('there is no signed anchor') as string,
      });
      expect(await verify(JSON.stringify(forged))).toMatchObject({
        code: 1,
        output: expect.stringContaining('signed by no key') as string,
      });
      await entries.insertOne(last);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
}

/** Only callback-dispatcher has the key. */
function signedAnchors({ services }: World): string[] {
  const lines = (services.get('callback-dispatcher')?.output() ?? '').split('\n').slice(0, -1);
  return lines.filter((line) => line.includes('"audited"') && line.includes('"signature"'));
}

function fieldsOf(line: string): Record<string, unknown> {
  return JSON.parse(line) as Record<string, unknown>;
}
