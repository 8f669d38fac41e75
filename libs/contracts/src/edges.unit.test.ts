import type { Party } from './edges';
import { edges, opsPorts } from './edges';
import type { ServiceDeclaration } from './services';
import { services } from './services';

const reaches = (from: Party, to: Party): boolean =>
  edges.some((edge) => edge.to === to && edge.from.includes(from) && edge.only !== 'counterparts');

test.each(Object.values<ServiceDeclaration>(services))(
  '$name reaches MongoDB, and Kafka if it has topics',
  ({ name, consumes, produces }) => {
    expect(reaches(name as Party, 'mongodb')).toBe(true);
    expect(reaches(name as Party, 'kafka')).toBe(consumes.length + produces.length > 0);
  },
);

test('nothing but callbacks leaves a sandbox, and only public ports are reached from outside', () => {
  const crossing = (side: (edge: (typeof edges)[number]) => readonly Party[], only: string[]) =>
    edges
      .filter((edge) => side(edge).includes('outside') && !only.includes(edge.only ?? ''))
      .map(({ network }) => network);
  expect(crossing(({ to }) => [to], ['kms', 'counterparts'])).toEqual(['callbacks']);
  expect(crossing(({ from }) => from, ['development'])).toEqual(['merchants', 'pages', 'issuer-pages', 'dashboards']);
});

test('no two edges describe the same port of the same network, and no service has the ops port of another', () => {
  const named = edges.map(({ network, to, port, only }) => [network, to, port, only].join(' '));
  expect(new Set(named).size).toBe(named.length);
  expect(new Set(Object.values(opsPorts)).size).toBe(Object.values(services).length);
});

test('nobody lists itself but the members of a cluster', () => {
  const own = edges.filter(({ to, from }) => from.includes(to)).map(({ to }) => to);
  expect(new Set(own)).toEqual(new Set(['kafka', 'mongodb']));
});
