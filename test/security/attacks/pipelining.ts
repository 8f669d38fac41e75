import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@gateway/testing';
import type { Body } from '../../support/system';
import { checkOf } from '../../support/system';
import { peakMiB } from '../memory';
import type { World } from '../world';

const MIB = 1024 * 1024;
const UNREAD_CONNECTIONS = 2_400;
const OPENED_AT_ONCE = 200;
const SENT_TOGETHER = 15;
const UNKNOWN_PAGE = 'A'.repeat(22);
/** In the chart. */
const MEMORY_LIMITS_MIB = { 'api-edge': 512, threeds: 384 } as const;

const statusesIn = (received: string): string[] => received.match(/HTTP\/1\.1 \d{3}/g) ?? [];

/** Requests sent together on one connection, without credentials, and a merchant at the same address beside them. */
export function attackWithPipelines(world: () => World): void {
  const targets = () =>
    [
      ['api-edge', world().ports.PORT, `/checkout/${UNKNOWN_PAGE}`],
      ['threeds', world().ports.THREEDS_PORT, `/challenge/${UNKNOWN_PAGE}`],
    ] as const;
  const getOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  test('of 1 MiB of requests on a connection one is answered, and nobody else notices', async () => {
    for (const [, port, path] of targets()) {
      const client = connect(port, '127.0.0.1');
      // The rest may still be on its way when the connection ends.
      client.on('error', () => undefined).write(getOf(path).repeat(Math.floor(MIB / getOf(path).length)));
      const received = text(client).catch(() => 'HTTP/1.1 404');
      expect(await world().send(checkOf({ reference: 'A'.repeat(20) }))).toMatchObject({ code: 3014 });
      expect(statusesIn(await received)).toEqual(['HTTP/1.1 404']);
    }
  });

  test('requests that are sent together are answered in order', async () => {
    for (const [, port, path] of targets()) {
      const client = connect(port, '127.0.0.1');
      client.write(`${getOf(path).repeat(9)}GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(statusesIn(await text(client))).toEqual(Array.from({ length: 10 }, () => 'HTTP/1.1 404'));
    }
  });

  test(`${UNREAD_CONNECTIONS} connections that read nothing stay within the memory of the chart`, async () => {
    for (const [name, port, path] of targets()) {
      const clients: Socket[] = [];
      while (clients.length < UNREAD_CONNECTIONS) {
        const opened = Array.from({ length: OPENED_AT_ONCE }, () => connect(port, '127.0.0.1'));
        clients.push(...opened);
        await Promise.all(
          opened.map((client) =>
            once(
              client.on('error', () => undefined),
              'connect',
            ),
          ),
        );
        for (const client of opened) client.pause().write(getOf(path).repeat(SENT_TOGETHER));
      }
      await until('all is sent', () => clients.every(({ writableLength }) => writableLength === 0));
      const answer: Body = await world().send(checkOf({ reference: 'A'.repeat(20) }));
      for (const client of clients) client.destroy();
      expect(answer).toMatchObject({ code: 3014 });
      const service = world().services.get(name);
      expect(service?.isRunning()).toBe(true);
      expect(peakMiB(service?.pid)).toBeLessThan(MEMORY_LIMITS_MIB[name]);
    }
  }, 60_000);
}
