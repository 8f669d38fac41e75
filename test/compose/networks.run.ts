import { edges } from '@gateway/contracts';
import { composed } from '../support/composed-system';
import { partyOf } from './files';
import type { Project, RunningContainer } from './project';
import { openProject } from './project';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const project: Project = openProject(composed);
/** Edges that this system does not have, though it has their networks. */
const elsewhere = composed.name === 'production' ? 'development' : 'closed-sandbox';

/** Connects to every `address/port` of its arguments, some at once, and prints those that accept. */
const PROBE = `printf '%s\\n' "$@" | xargs -P 24 -I{} timeout 3 bash -c '(exec 3<>/dev/tcp/{}) 2>/dev/null && echo {}' || true`;

let running: RunningContainer[];

beforeAll(async () => {
  running = (await project.ready()).filter((container) => container.running);
}, 240_000);

const portsOf = ({ service }: RunningContainer): number[] => [
  ...new Set(edges.filter(({ to }) => to === partyOf(service)).flatMap(({ port }) => port ?? [])),
];

/** Without replicas and members of the same: they share their networks. */
const othersOf = ({ service }: RunningContainer): RunningContainer[] =>
  running.filter((container) => partyOf(container.service) !== partyOf(service));

/** `from -> to:port` for every port that a container reaches. */
async function reachedFrom(source: RunningContainer): Promise<string[]> {
  const places = new Map<string, string>();
  for (const target of othersOf(source)) {
    for (const port of portsOf(target)) {
      for (const address of Object.values(target.addresses)) {
        places.set(`${address}/${port}`, `${source.service} -> ${target.service}:${port}`);
      }
    }
  }
  const accepted = await project.exec(source, 'bash', '-c', PROBE, 'probe', ...places.keys());
  return accepted.split('\n').flatMap((place) => places.get(place) ?? []);
}

function declared(): string[] {
  return running.flatMap((target) =>
    edges
      .filter(({ to, network }) => to === partyOf(target.service) && network in target.addresses)
      .filter(({ only }) => only !== elsewhere)
      .flatMap(({ from, port, network }) =>
        othersOf(target)
          .filter((source) => network in source.addresses)
          .filter(({ service }) => from.includes(partyOf(service)))
          .map(({ service }) => `${service} -> ${target.service}:${String(port)}`),
      ),
  );
}

test('every container reaches the ports that the edges declare, and no other', async () => {
  const reached = (await Promise.all(running.map(reachedFrom))).flat();
  expect([...new Set(reached)].toSorted()).toEqual([...new Set(declared())].toSorted());
  // Everybody has a server at least, so that an empty list is no success.
  expect(reached.length).toBeGreaterThan(2 * running.length);
}, 240_000);
