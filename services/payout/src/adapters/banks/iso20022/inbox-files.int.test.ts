import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { testServers } from '@gateway/testing';
import type { Inbox, OwnRecords } from './inbox.fixture';
import { emit, NOON, openInbox, openOwnRecords } from './inbox.fixture';
import { readOnce } from './inbox-files';
import { pain002 } from './iso20022.fixture';

/** What may lie in an inbox besides reports. */

let own: OwnRecords;
beforeAll(async () => {
  own = await openOwnRecords(testServers().mongoUri);
});
beforeEach(() => own.empty());
afterAll(() => own.close());

let at: Inbox;
beforeEach(async () => {
  await emit(own.records, 'M1', 'A');
  at = await openInbox(own.records, own.schemaCheck);
});

const pathOf = (name: string) => join(at.directory, name);
const report = pain002({ message: 'M1', group: 'ACSC' });
const pipe = (name: string) => execFileSync('mkfifo', [pathOf(name)]);

it('a pipe, a link and a folder stop nothing, and are named', async () => {
  pipe('1-pipe.xml');
  writeFileSync(pathOf('.elsewhere'), report);
  symlinkSync(pathOf('.elsewhere'), pathOf('2-link.xml'));
  symlinkSync(pathOf('nowhere'), pathOf('3-loose.xml'));
  mkdirSync(pathOf('4-folder.xml'));
  at.deliver('5.xml', report);
  await at.round();
  await at.round();
  expect(at.told).toEqual(['A settled']);
  expect(at.seen()).toMatchObject({ due: [], ahead: [] });
  expect(at.seen()?.ignored.toSorted()).toEqual(['1-pipe.xml', '2-link.xml', '3-loose.xml', '4-folder.xml']);
});

it.each<[string, () => void]>([
  ['a pipe', () => pipe('1.xml')],
  ['a link', () => symlinkSync('/etc/passwd', pathOf('1.xml'))],
  ['a folder', () => mkdirSync(pathOf('1.xml'))],
  ['nothing', () => undefined],
])('a name that has become %s between the look and the reading is left alone', async (_what, become) => {
  at.deliver('1.xml', report);
  rmSync(pathOf('1.xml'));
  become();
  expect(await readOnce(pathOf('1.xml'))).toEqual({ kind: 'changed' });
});

it('a name that has become a pipe after the look delays no other report', async () => {
  const swapped = await openInbox(own.records, own.schemaCheck, async (xml) => {
    if (!Buffer.from(xml).includes('OTHER')) return;
    rmSync(join(swapped.directory, '2.xml'));
    execFileSync('mkfifo', [join(swapped.directory, '2.xml')]);
  });
  swapped.deliver('1.xml', pain002({ message: 'OTHER', group: 'ACSC' }));
  swapped.deliver('2.xml', pain002({ message: 'M1', id: 'R2', group: 'ACCP' }));
  swapped.deliver('3.xml', report);
  await swapped.round();
  expect(swapped.told).toEqual(['A settled']);
});

it('a file that takes the name while another is read is read itself', async () => {
  const settling = pain002({ message: 'M1', id: 'R2', transactions: [{ reference: 'A', status: 'ACSC' }] });
  let swaps = 0;
  const swapped = await openInbox(own.records, own.schemaCheck, async () => {
    if ((swaps += 1) > 1) return;
    writeFileSync(join(swapped.directory, '.new'), settling);
    renameSync(join(swapped.directory, '.new'), join(swapped.directory, '1.xml'));
    swapped.touch('1.xml', NOON - 10_000);
  });
  swapped.deliver('1.xml', pain002({ message: 'M1', group: 'ACCP' }));
  await swapped.round();
  expect(swapped.files()).toEqual(['1.xml']);
  await swapped.round();
  expect(swapped.told).toEqual(['A settled']);
  expect(readFileSync(join(swapped.directory, 'done', '1.xml'), 'utf8')).toBe(settling);
});

it('100 MB are not read', async () => {
  writeFileSync(pathOf('.big'), '');
  truncateSync(pathOf('.big'), 100 * 1024 * 1024);
  linkSync(pathOf('.big'), pathOf('1.xml'));
  at.touch('1.xml', NOON - 60_000);
  at.deliver('2.xml', report);
  await at.round();
  expect(at.problemsOf('1.xml')).toEqual(['104857600 bytes are more than 10485760']);
  expect(at.told).toEqual(['A settled']);
});

it('names with line ends and other signs are names', async () => {
  at.deliver('1\n2\t"3"\\.XML', report);
  await at.round();
  expect(at.told).toEqual(['A settled']);
});

it('what is no report is named once, for as long as it lies there', async () => {
  const names = ['report.p02', 'report.xml.pgp', 'report.zip', 'without-ending', '\u00e4.xml\n'];
  for (const name of names) at.deliver(name, report);
  writeFileSync(Buffer.concat([Buffer.from(pathOf('pr')), Buffer.from([0xfc]), Buffer.from('f.xml')]), report);
  await at.round();
  await at.round();
  expect(at.seen()?.ignored.toSorted()).toEqual([...names, 'pr\ufffdf.xml'].toSorted());
  expect(at.lines.filter((line) => line.includes('are no reports'))).toHaveLength(1);
  expect(at.lines.join()).toContain('report.p02');
  rmSync(pathOf('report.zip'));
  await at.round();
  at.deliver('report.zip', report);
  await at.round();
  expect(at.lines.filter((line) => line.includes('are no reports'))).toHaveLength(2);
});

it('a file that is still written is neither read nor named', async () => {
  at.deliver('1.xml', report);
  at.deliver('1.part', report);
  for (const name of ['1.xml', '1.part']) at.touch(name, NOON - 1_000);
  await at.round();
  expect([at.seen(), at.told]).toEqual([{ due: [], ahead: [], ignored: [] }, []]);
});

it('a report that is dated ahead waits, is named, and holds no other', async () => {
  at.deliver('1.xml', pain002({ message: 'M1', id: 'R1', group: 'RJCT', groupReason: 'AC04' }));
  at.touch('1.xml', NOON + 3_600_000);
  at.deliver('2.xml', report);
  await at.round();
  await at.round();
  expect(at.told).toEqual(['A settled']);
  expect(at.seen()).toEqual({ due: [], ahead: ['1.xml'], ignored: [] });
  expect(at.lines.filter((line) => line.includes('dated ahead'))).toEqual([expect.stringContaining('1.xml')]);
});

it('reports of the same time are read by the numbers in their names', async () => {
  await own.records.batches.deleteMany({});
  await own.records.members.deleteMany({});
  const ids = ['9', '10', '100', '11'];
  for (const id of ids) await emit(own.records, `M-${id}`, `T-${id}`);
  for (const id of ids) {
    at.deliver(`REPORT-${id}.xml`, pain002({ message: `M-${id}`, id, group: 'ACSC' }));
    at.touch(`REPORT-${id}.xml`, NOON - 60_000);
  }
  await at.round();
  expect(at.told).toEqual(['T-9 settled', 'T-10 settled', 'T-11 settled', 'T-100 settled']);
});
