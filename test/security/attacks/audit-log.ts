import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CREDENTIALS } from '../../support/system';
import { runScript } from '../../support/processes';
import type { World } from '../world';

const CLI = 'libs/audit/dist/cli.js';

/** An audit log that ends before what was done last, as whoever writes to its database can leave it. */
export function attackAuditLog(world: () => World): void {
  const moveClock = () => world().send({ ...CREDENTIALS, advance: 1 }, '/api/sandbox/clock');

  test('a truncated log passes the check of its chain, and never verifies', async () => {
    for (let moves = 0; moves < 2; moves += 1) expect(await moveClock()).toMatchObject({ code: 0 });
    const folder = mkdtempSync(join(tmpdir(), 'security-audit-'));
    const anchors = join(folder, 'edge.log');
    writeFileSync(anchors, world().services.get('api-edge')?.output() ?? '');
    const audit = (...args: string[]) => runScript(CLI, world().env, args);
    try {
      expect(await audit('verify', '--anchors', anchors)).toMatchObject({ code: 0 });
      const entries = world().storage.collection('audit', 'entries');
      const [last] = await entries.find().sort({ _id: -1 }).limit(1).toArray();
      if (last === undefined) throw new Error('the log is empty');
      await entries.deleteOne({ _id: last._id });
      expect(await audit('check')).toMatchObject({ code: 0 });
      expect(await audit('verify', '--anchors', anchors)).toMatchObject({
        code: 1,
        output: expect.stringContaining('tampered with: the log ends before entry') as string,
      });
      expect(await audit('verify')).toMatchObject({ code: 1 });
      await entries.insertOne(last);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 60_000);
}
