import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordingLogger, until } from '@gateway/testing';
import { Registry } from 'prom-client';
import { ConfigurationError } from './configuration-error';
import type { ReloadedFiles } from './reloaded-files';
import { openReloadedFiles } from './reloaded-files';

const LOOK_EVERY_MS = 2;

let directory: string;
let lines: string[];
let metrics: Registry;
let parsed: string[];
let files: ReloadedFiles<string> | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-reloaded-'));
  lines = [];
  parsed = [];
  metrics = new Registry();
});
afterEach(async () => {
  await files?.stop();
  files = undefined;
  rmSync(directory, { recursive: true });
});

const path = (name: string) => join(directory, name);
function write(name: string, text: string): void {
  writeFileSync(path(`${name}.new`), text);
  renameSync(path(`${name}.new`), path(name));
}

/** The files of a pair agree when they begin alike. */
function open(...names: string[]): ReloadedFiles<string> {
  files = openReloadedFiles({
    name: 'pair',
    paths: names.map(path),
    parse(contents) {
      const text = contents.join('+');
      parsed.push(text);
      if (new Set(contents.map((content) => String(content)[0])).size > 1) throw new Error('they do not match');
      return text;
    },
    logger: recordingLogger(lines),
    metrics,
    lookEveryMs: LOOK_EVERY_MS,
  });
  files.start();
  return files;
}

const becomes = (value: string) => until(value, () => files?.current === value);
const failed = async () => /gateway_reload_failed\{files="pair"\} (\d)/.exec(await metrics.metrics())?.[1];

test('a changed file is read again, and listeners get the new value', async () => {
  write('a', '1');
  const told: string[] = [];
  open('a').onChange((value) => void told.push(value));
  expect(files?.current).toBe('1');
  write('a', '2');
  await becomes('2');
  expect(told).toEqual(['2']);
  expect(lines).toEqual([expect.stringMatching(/^files were reloaded .*"files":"pair"/)]);
});

test('a link that points elsewhere is a change', async () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(path(version));
    write(`${version}/a`, version);
  }
  symlinkSync('v1', path('current'));
  open('current/a');
  symlinkSync('v2', path('next'));
  renameSync(path('next'), path('current'));
  await becomes('v2');
});

test('files that cannot be used are logged once; the old value stays until they can', async () => {
  write('a', '1');
  write('b', '1');
  open('a', 'b');
  expect(await failed()).toBe('0');
  write('a', '2');
  await until('the failure', async () => (await failed()) === '1');
  expect(files?.current).toBe('1+1');
  write('b', '2');
  await becomes('2+2');
  expect(await failed()).toBe('0');
  expect(lines.filter((line) => line.includes('cannot be used'))).toEqual([
    expect.stringContaining('"reason":"they do not match"'),
  ]);
  expect(parsed).toEqual(['1+1', '2+1', '2+2']);
});

test('a pair is not tried while only half of it is replaced', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  /** One look, which ends by setting the timer of the next one. */
  async function look(): Promise<void> {
    jest.advanceTimersByTime(LOOK_EVERY_MS);
    while (jest.getTimerCount() === 0) await new Promise(setImmediate);
  }
  write('a', '1');
  write('b', '1');
  const pair = open('a', 'b');
  write('a', '2');
  await look();
  write('b', '2');
  await look();
  expect(pair.current).toBe('1+1');
  await look();
  expect(pair.current).toBe('2+2');
  expect(parsed).toEqual(['1+1', '2+2']);
  await pair.stop();
  jest.useRealTimers();
});

test('a removed file is a failure; the old value stays, and counts again when it is back', async () => {
  write('a', '1');
  open('a');
  rmSync(path('a'));
  await until('the failure', async () => (await failed()) === '1');
  expect(files?.current).toBe('1');
  expect(lines[0]).toMatch(/cannot be used.*ENOENT/);
  write('a', '1');
  await until('the recovery', async () => (await failed()) === '0');
  expect(files?.current).toBe('1');
});

test('files that cannot be used at the start are a wrong setting', () => {
  write('a', '1');
  write('b', '2');
  expect(() => open('a', 'missing')).toThrow(ConfigurationError);
  expect(() => open('a', 'missing')).toThrow(/^Configuration: pair in .*ENOENT/);
  expect(() => open('a', 'b')).toThrow(/they do not match\.$/);
});
