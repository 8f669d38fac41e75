import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { until } from '@gateway/testing';
import { callScript } from './call-script';
import { freePort } from './free-port';

/** A forward proxy that others wrote, as a process of its own. */
export interface Tinyproxy {
  readonly port: number;
  /** What it was asked for, in order: `host:port` of each CONNECT. */
  asked(): string[];
  stop(): Promise<void>;
}

export async function tinyproxyProgram(): Promise<string> {
  const installed = await callScript<{ tinyproxy: string } | { failure: string }>(
    'install/tinyproxy.mjs',
    'installTinyproxy',
  );
  if ('failure' in installed) throw new Error(installed.failure);
  return installed.tinyproxy;
}

/** @param options.refused hosts to which it opens no tunnel */
export async function startTinyproxy(
  program: string,
  options: { user?: string; password?: string; refused?: readonly string[] } = {},
): Promise<Tinyproxy> {
  const { user, password, refused = [] } = options;
  const directory = mkdtempSync(join(tmpdir(), 'gateway-tinyproxy-'));
  const log = join(directory, 'log');
  const filter = join(directory, 'filter');
  const port = await freePort();
  writeFileSync(filter, refused.map((host) => `^${host.replaceAll('.', '\\.')}$\n`).join(''));
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Allow 127.0.0.1',
    `LogFile "${log}"`,
    'LogLevel Connect',
    ...(user === undefined ? [] : [`BasicAuth ${user} ${password}`]),
    ...(refused.length === 0 ? [] : [`Filter "${filter}"`, 'FilterExtended On']),
  ];
  writeFileSync(join(directory, 'tinyproxy.conf'), lines.join('\n'));
  // Ends with this process, however that ends: the shell's standard input closes then.
  const guarded = '"$@" & program=$!; cat >/dev/null; kill -9 $program';
  const child = spawn('sh', ['-c', guarded, 'sh', program, '-d', '-c', 'tinyproxy.conf'], {
    cwd: directory,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await until('tinyproxy to listen', () => listens(port));
  return {
    port,
    asked: () => [...readFileSync(log, 'utf8').matchAll(/CONNECT (\S+) HTTP/g)].map(([, target = '']) => target),
    async stop() {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
      rmSync(directory, { recursive: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
