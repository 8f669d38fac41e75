import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@gateway/contracts';
import { parse } from 'yaml';
import type { Container } from './compose/files';
import { readCompose, SYSTEMS } from './compose/files';

const FOLDER = join(__dirname, '..', 'deploy', 'compose');
const WATCHERS = ['prometheus', 'alertmanager', 'grafana'] as const;
const closed = readCompose(SYSTEMS.production);
const watched = readCompose([...SYSTEMS.production, 'deploy/compose/observability.yml']);
const networksOf = (name: string): string[] => Object.keys(watched.services[name]?.networks ?? {});

test('the closed system stays as it is beside what watches it', () => {
  for (const [name, container] of Object.entries(closed.services)) expect(watched.services[name]).toEqual(container);
});

test('Prometheus is in the network of the metrics of each service, and in no other of theirs', () => {
  const own = Object.values(services)
    .map(({ name }) => `${name}-metrics`)
    .filter((name) => name !== 'simulator-metrics');
  expect(networksOf('prometheus').toSorted()).toEqual([...own, 'alerts', 'series'].toSorted());
  for (const name of own) expect(Object.keys(closed.networks)).toContain(name);
});

test('Prometheus asks by TLS, trusts the authority of internal ports alone, and finds what it found before', () => {
  const read = (path: string) =>
    parse(readFileSync(join(FOLDER, '..', 'monitoring', 'prometheus', path), 'utf8')) as Scraping;
  const { command = [], volumes = [] } = (watched.services['prometheus'] ?? {}) as Partial<Container>;
  const [, file = ''] = /--config\.file=\/etc\/prometheus\/(\S+)/.exec((command as string[]).join(' ')) ?? [];
  const { scrape_configs, ...others } = read(file);
  const [{ scheme, tls_config, ...job }] = scrape_configs;
  expect([scheme, tls_config]).toEqual([
    'https',
    { ca_file: '/run/internal-ca/ca.pem', server_name: 'gateway-metrics' },
  ]);
  expect({ ...others, scrape_configs: [job] }).toEqual(read('prometheus.yml'));
  expect(volumes).toContain('${SECRETS}/internal-ca:/run/internal-ca:ro');
});

interface Scraping {
  scrape_configs: [{ scheme?: string; tls_config?: object }];
}

test('only Alertmanager reaches the world, and only Grafana has a port, on this machine', () => {
  const open = WATCHERS.filter((name) =>
    networksOf(name).some((network) => watched.networks[network]?.internal !== true),
  );
  expect(open).toEqual(['alertmanager', 'grafana']);
  expect(networksOf('alertmanager')).toEqual(['alerts', 'on-call']);
  expect(WATCHERS.flatMap((name) => watched.services[name]?.ports ?? [])).toEqual([
    '127.0.0.1:${GRAFANA_PORT:-3000}:3000',
  ]);
});

test('they are contained as everything else, and the files that they mount exist', () => {
  for (const name of WATCHERS) {
    expect(watched.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'], mem_limit: '512m' });
    const mounted = watched.services[name]?.volumes ?? [];
    const files = mounted.flatMap((volume) => /(\.\.\/[^:}]+)/.exec(volume)?.[1] ?? []);
    expect(mounted.length).toBeGreaterThan(1);
    for (const file of files) expect([file, existsSync(join(FOLDER, file))]).toEqual([file, true]);
  }
});
