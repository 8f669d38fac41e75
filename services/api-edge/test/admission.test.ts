import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { until } from '@gateway/testing';
import type { EdgeFixture } from './edge-fixture';
import { CREDENTIALS, startEdgeFixture } from './edge-fixture';

const PATH = '/api/pf/host-to-host';
const CHECK = { transaction_type: 'CHECK', transaction_unique_id: 'never-used-before' };
const NOTHING_FOUND = { code: 3014 };

let fixture: EdgeFixture;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await fixture.stop();
});

/** Sends the beginning of a request and goes on with one byte at a time. */
async function trickle(path: string, contentType: string, localAddress: string, client = localAddress): Promise<void> {
  const socket = connect({ port: fixture.edge.ports.api, host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  const headers = ['host: x', `content-type: ${contentType}`, 'content-length: 1000', `x-forwarded-for: ${client}`];
  socket.write(`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`);
  const timer = setInterval(() => socket.write(' '), 20);
  socket.once('close', () => clearInterval(timer));
}

const openConnections = async (): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${fixture.edge.ports.ops}/metrics`);
  return Number(/gateway_connections_open\S* (\d+)/.exec(await response.text())?.[1]);
};

test('slow bodies hold no slot, of requests and of pages', async () => {
  fixture = await startEdgeFixture('slow', { MAX_CONCURRENT_REQUESTS: '1' });
  const page = '/checkout/AAAAAAAAAAAAAAAAAAAAAA';
  for (let count = 0; count < 20; count += 1) {
    await trickle(PATH, 'application/json', '127.0.0.2');
    await trickle(page, 'application/x-www-form-urlencoded', '127.0.0.2');
  }
  await until('all are connected', async () => (await openConnections()) === 40);
  expect(await fixture.merchant(PATH, CHECK)).toMatchObject(NOTHING_FOUND);
  expect(await fixture.request('GET', page)).toMatchObject({ status: 404 });
});

test('a source beyond its connections pushes out its own, behind whatever address a merchant is', async () => {
  fixture = await startEdgeFixture('crowd', { MAX_CONNECTIONS_PER_SOURCE: '5' });
  for (let count = 0; count < 20; count += 1) await trickle(PATH, 'application/json', '127.0.0.1');
  for (const headers of [{}, { connection: 'close' }]) {
    expect(await fixture.merchant(PATH, CHECK, headers)).toMatchObject(NOTHING_FOUND);
  }
  expect(await openConnections()).toBeLessThanOrEqual(5);
});

test('behind a trusted proxy clients are told apart by X-Forwarded-For', async () => {
  fixture = await startEdgeFixture('proxy', {
    MAX_CONNECTIONS_PER_SOURCE: '1',
    TRUSTED_PROXY_CIDRS: '127.0.0.0/8',
  });
  await fixture.accounts.administration.change(CREDENTIALS.merchant_account, { ipAllowlist: ['192.0.2.7'] });
  for (const client of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.3', '192.0.2.3']) {
    await trickle(PATH, 'application/json', '127.0.0.1', client);
  }
  const from = (address: string) => fixture.merchant(PATH, CHECK, { 'x-forwarded-for': address });
  expect(await from('192.0.2.7')).toMatchObject(NOTHING_FOUND);
  expect(await from('192.0.2.8')).toMatchObject({ code: 2008 });
  await until('each client has one body under way', async () => (await openConnections()) === 3);
});
