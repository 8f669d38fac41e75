import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '@gateway/testing';
import { freePort } from './free-port';

const run = promisify(execFile);
const ARTIFACT = 'io.apicurio:apicurio-registry-app:3.0.9:tar.gz:all';
const DOWNLOAD_TIMEOUT_MS = 400_000;
const START_TIMEOUT_MS = 120_000;

export interface SchemaRegistry {
  /** Of its copy of Confluent's API. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A real registry with a database in memory, from Maven Central, in a folder of the caller. */
export async function startApicurio(folder: string): Promise<SchemaRegistry> {
  const copy = ['dependency:copy', `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${folder}`];
  await run('mvn', ['--quiet', '--batch-mode', ...copy], { cwd: folder, timeout: DOWNLOAD_TIMEOUT_MS });
  await run('tar', ['xzf', 'apicurio-registry-app-3.0.9-all.tar.gz'], { cwd: folder, timeout: DOWNLOAD_TIMEOUT_MS });
  const jar = readdirSync(folder).find((name) => name.endsWith('-runner.jar')) ?? '';
  const port = await freePort();
  const address = ['-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-Dapicurio.storage.kind=sql'];
  const child = spawn('java', ['-Xmx400m', ...address, '-jar', join(folder, jar)], { cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await until(
      'the registry to listen',
      async () => {
        if (child.exitCode !== null) throw new Error(`the registry has ended with ${child.exitCode}`);
        return (await fetch(`${url}/subjects`).catch(() => undefined))?.ok === true;
      },
      START_TIMEOUT_MS,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
