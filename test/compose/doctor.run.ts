import { composed } from '../support/composed-system';
import type { Project } from './project';
import { openProject } from './project';

if (composed === undefined) throw new Error('run these with npm run test:compose');
const project: Project = openProject(composed);

/** Whom it asks: of the closed system not the simulator. */
const REPLICAS = { development: 7, scale: 12, cluster: 7, production: 6 };
/** As `AS=doctor docker-compose run …`, in the closed system with its own users at both servers. */
const USERS = [
  'KAFKA_USER=doctor',
  ...['KAFKA_PASSWORD', 'MONGODB_URI'].map((name) => `${name}_FILE=/run/secrets/doctor/${name}`),
];
const { name } = composed;
const options = name === 'production' ? USERS.flatMap((setting) => ['-e', setting]) : [];

test('the doctor looks at all services from its own container, and finds nothing to fix', async () => {
  await project.ready();
  const printed = await project.compose('run', '--rm', '-T', ...options, 'operations', 'doctor', '--json');
  const found = JSON.parse(printed) as Record<string, { faults: string[]; fine: string }>;
  expect(Object.values(found).flatMap(({ faults }) => faults)).toEqual([]);
  expect(found['services']?.fine).toBe(`${REPLICAS[name]} replicas are ready`);
}, 240_000);
