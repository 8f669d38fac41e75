import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from '@gateway/testing';
import type { Composed } from '../support/composed-system';

const COMMAND_TIMEOUT_MS = 240_000;
const READY_TIMEOUT_MS = 180_000;

/** A container that runs, or has run. */
export interface RunningContainer {
  readonly id: string;
  /** Its name in the Compose file. */
  readonly service: string;
  readonly startedAt: string;
  readonly running: boolean;
  readonly exitCode: number;
  /** Undefined for those without a health check. */
  readonly health: string | undefined;
  /** Its address in each network, by the network's name in the Compose file. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** The containers of one composed system. */
export interface Project {
  compose(...args: string[]): Promise<string>;
  containers(): Promise<RunningContainer[]>;
  /** Runs a command in a container; its standard output. */
  exec(container: RunningContainer, ...command: string[]): Promise<string>;
  /** Resolves when every container that should run is healthy, and every other one has ended well. */
  ready(): Promise<RunningContainer[]>;
}

interface Inspected {
  Id: string;
  Config: { Labels: Record<string, string> };
  State: { StartedAt: string; Running: boolean; ExitCode: number; Health?: { Status: string } };
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> };
}

export function openProject({ command, project, files, environment }: Composed): Project {
  const env = { ...process.env, ...environment };
  const options = { env, timeout: COMMAND_TIMEOUT_MS, maxBuffer: 16 * 1_048_576 };
  async function run(program: string, args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(program, args, options);
    return stdout;
  }
  const [program = '', ...first] = command;
  const given = [...first, '-p', project, ...files.flatMap((file) => ['-f', file])];
  const docker = (...args: string[]) => run('docker', args);

  async function containers(): Promise<RunningContainer[]> {
    const listed = await docker('ps', '-aq', '--filter', `label=com.docker.compose.project=${project}`);
    const ids = listed.split('\n').filter((id) => id !== '');
    if (ids.length === 0) return [];
    const inspected = JSON.parse(await docker('inspect', ...ids)) as Inspected[];
    return inspected.filter(({ Config: { Labels } }) => Labels['com.docker.compose.oneoff'] === 'False').map(describe);
  }

  function describe({ Id, Config, State, NetworkSettings }: Inspected): RunningContainer {
    const addresses = Object.entries(NetworkSettings.Networks).map(([network, { IPAddress }]) => [
      network.slice(project.length + 1),
      IPAddress,
    ]);
    return {
      id: Id,
      service: Config.Labels['com.docker.compose.service'] ?? '',
      startedAt: State.StartedAt,
      running: State.Running,
      exitCode: State.ExitCode,
      health: State.Health?.Status,
      addresses: Object.fromEntries(addresses) as Record<string, string>,
    };
  }

  return {
    compose: (...args) => run(program, [...given, ...args]),
    containers,
    exec: ({ id }, ...args) => docker('exec', id, ...args),
    ready: () =>
      until(
        'all containers are ready',
        async () => {
          const found = await containers();
          const failed = found.find(({ running, exitCode }) => !running && exitCode !== 0);
          if (failed !== undefined) throw new Error(`${failed.service} has ended: ${await docker('logs', failed.id)}`);
          const waiting = found.filter(
            ({ running, health }) => running && health !== 'healthy' && health !== undefined,
          );
          return found.length > 0 && waiting.length === 0 ? found : undefined;
        },
        READY_TIMEOUT_MS,
      ),
  };
}
