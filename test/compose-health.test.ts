import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The health checks of Kafka and MongoDB under Compose, run here. */
const FOLDER = join(__dirname, '..', 'deploy', 'compose');

let directory: string;
const servers: Server[] = [];
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'payment-gateway-health-'))));
afterEach(async () => {
  await Promise.all(servers.splice(0).map(stopped));
  rmSync(directory, { recursive: true });
});

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.end());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

const stopped = (server: Server) => new Promise((resolve) => server.close(resolve));

/** The exit code of a check. `port` in place of the one that the server has in its container. */
function check(server: 'kafka' | 'mongodb', port: number, env: Record<string, string> = {}): Promise<number> {
  const script = readFileSync(join(FOLDER, server, 'health.sh'), 'utf8')
    .replaceAll('/tmp/together', join(directory, 'together'))
    .replace(/(127\.0\.0\.1)\/\d+/, `$1/${port}`);
  const file = join(directory, 'health.sh');
  writeFileSync(file, script);
  const PATH = `${directory}:${process.env['PATH']}`;
  return new Promise((resolve) =>
    execFile('bash', [file], { env: { ...env, PATH } }, (error) => resolve(Number(error?.code ?? 0))),
  );
}

test('a broker waits for all brokers once, and then counts for itself', async () => {
  const [own, other] = [await listening(), await listening()];
  const env = { BROKERS: `127.0.0.1:${own.port},127.0.0.1:${other.port}` };
  const missing = { BROKERS: `${env.BROKERS},127.0.0.1:1` };
  expect(await check('kafka', own.port, missing)).toBe(1);
  expect(await check('kafka', own.port, env)).toBe(0);
  await stopped(other.server);
  expect(await check('kafka', own.port, env)).toBe(0);
  await stopped(own.server);
  expect(await check('kafka', own.port, env)).toBe(1);
});

test('a member of MongoDB asks mongosh until there is a replica set, and then looks at its port alone', async () => {
  const own = await listening();
  const calls = join(directory, 'calls');
  const mongosh = (exitCode: number) => {
    writeFileSync(join(directory, 'mongosh'), `#!/bin/sh\ntouch ${calls}\nexit ${exitCode}\n`);
    chmodSync(join(directory, 'mongosh'), 0o755);
  };
  mongosh(1);
  expect(await check('mongodb', own.port)).toBe(1);
  mongosh(0);
  expect(await check('mongodb', own.port)).toBe(0);
  rmSync(calls);
  expect([await check('mongodb', own.port), existsSync(calls)]).toEqual([0, false]);
  await stopped(own.server);
  expect([await check('mongodb', own.port), existsSync(calls)]).toEqual([1, false]);
});
