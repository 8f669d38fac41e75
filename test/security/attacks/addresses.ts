import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Document } from '../../support/storage';
import { cardRequest } from '../../support/system';
import type { World } from '../world';

/** A server inside: nobody may connect to it. */
const INSIDE = '127.0.0.2';

/** Hosts that a callback must not reach, by what they are. */
const REFUSED_HOSTS: readonly [what: string, host: string][] = [
  ['this host', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.0.1'],
  ['CGNAT', '100.64.0.1'],
  ['CGNAT', '100.127.255.255'],
  ['loopback', INSIDE],
  ['loopback', '127.255.255.255'],
  ['link-local', '169.254.0.1'],
  ['metadata of AWS, Azure, Google', '169.254.169.254'],
  ['metadata of ECS', '169.254.170.2'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192'],
  ['the host of an Azure machine', '168.63.129.16'],
  ['protocol assignments', '192.0.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.1'],
  ['documentation', '203.0.113.1'],
  ['6to4 relays', '192.88.99.1'],
  ['benchmarks', '198.18.0.1'],
  ['benchmarks', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['multicast', '239.255.255.250'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['decimal', '2130706434'],
  ['octal', '0177.0.0.2'],
  ['octal without dots', '017700000002'],
  ['hexadecimal', '0x7f000002'],
  ['hexadecimal with dots', '0x7f.0x0.0x0.0x2'],
  ['mixed', '0x7f.0.2'],
  ['short', '127.2'],
  ['with a dot at its end', '127.0.0.2.'],
  ['with full-width digits', '１２７.0.0.2'],
  ['with an ideographic full stop', '127。0。0。2'],
  ['percent-encoded', '%31%32%37.0.0.2'],
  ['unspecified', '[::]'],
  ['loopback', '[::1]'],
  ['IPv4-mapped', '[::ffff:127.0.0.2]'],
  ['IPv4-mapped, in hex', '[::ffff:7f00:2]'],
  ['IPv4-mapped private', '[::ffff:10.0.0.1]'],
  ['IPv4-mapped metadata', '[::ffff:a9fe:a9fe]'],
  ['IPv4-compatible', '[::127.0.0.2]'],
  ['IPv4-translated', '[::ffff:0:127.0.0.2]'],
  ['NAT64', '[64:ff9b::127.0.0.2]'],
  ['NAT64 of metadata', '[64:ff9b::a9fe:a9fe]'],
  ['NAT64 of a network of its own', '[64:ff9b:1::a00:1]'],
  ['6to4', '[2002:7f00:2::1]'],
  ['6to4 of metadata', '[2002:a9fe:a9fe::]'],
  ['Teredo', '[2001:0:a9fe:a9fe::1]'],
  ['benchmarks', '[2001:2::1]'],
  ['ORCHID', '[2001:20::1]'],
  ['documentation', '[2001:db8::1]'],
  ['documentation', '[3fff::1]'],
  ['segment routing', '[5f00::1]'],
  ['discard', '[100::1]'],
  ['unique local', '[fc00::1]'],
  ['metadata of AWS', '[fd00:ec2::254]'],
  ['metadata of Google', '[fd20:ce::254]'],
  ['link-local', '[fe80::1]'],
  ['link-local metadata', '[fe80::a9fe:a9fe]'],
  ['site-local', '[fec0::1]'],
  ['multicast', '[ff02::1]'],
  ['a name with a private address', 'private.attack.test'],
  ['a name with the metadata address', 'metadata.attack.test'],
];

/** Addresses that are refused with 1004 when they are sent. */
const INVALID_ADDRESSES: readonly [what: string, address: string][] = [
  ['http', 'http://shop.example/'],
  ['another scheme', 'ftp://shop.example/'],
  ['gopher', 'gopher://127.0.0.1:6379/_FLUSHALL'],
  ['file', 'file:///etc/passwd'],
  ['data', 'data:text/html,<script>alert(1)</script>'],
  ['javascript', 'javascript:alert(1)//https://shop.example/'],
  ['without a scheme', '//shop.example/'],
  ['one slash', 'https:/127.0.0.1/'],
  ['no slash', 'https:127.0.0.1'],
  ['user info', 'https://shop.example@127.0.0.1/'],
  ['user info with a password', 'https://shop.example:443@127.0.0.1/'],
  ['user info after a backslash', 'https://shop.example\\@127.0.0.1/'],
  ['a backslash', 'https://127.0.0.1\\.shop.example/'],
  ['a line break', 'https://shop.example/\r\nX-Injected: yes'],
  ['a tab', 'https://shop.exam\tple/'],
  ['a space before it', ' https://shop.example/'],
  ['NUL', 'https://shop.example/\u0000'],
  ['a zone', 'https://[fe80::1%25eth0]/'],
  ['a number that is no IPv4 address', 'https://999.999.999.999/'],
  ['a port that is none', 'https://shop.example:65536/'],
  ['port 0', 'https://shop.example:0/'],
  ['the port of SSH', 'https://shop.example:22/'],
  ['the port of SMTP, with zeros', 'https://shop.example:00025/'],
  ['no host', 'https:///path'],
  ['more than 2048 characters', `https://shop.example/${'x'.repeat(2048)}`],
];

const ATTEMPT_TIMEOUT_MS = 40_000;

/** Callback and redirect addresses that merchants send. */
export function attackAddresses(world: () => World): void {
  let inside: Server;
  let connections = 0;
  let insidePort = 0;

  beforeAll(async () => {
    inside = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, INSIDE);
    await once(inside, 'listening');
    insidePort = (inside.address() as AddressInfo).port;
  });
  afterAll(() => void inside.close());

  /** A SALE3D that succeeds at once and then reports to the address. */
  async function reportTo(callback_url: string): Promise<void> {
    const fields = { card_number: TEST_CARDS.frictionless.visa, callback_url, redirect_url: 'https://shop.example/' };
    const answer = await world().send(cardRequest('SALE3D', fields));
    expect([callback_url, answer['code']]).toEqual([callback_url, 0]);
  }

  /** The finished attempts to deliver to an address, oldest first. */
  async function attemptsAt(url: string, count: number): Promise<Document[]> {
    const { storage } = world();
    const deliveries = storage.collection('callbacks', 'deliveries');
    const delivery = await until(`a callback to ${url}`, () => deliveries.findOne({ url }), ATTEMPT_TIMEOUT_MS);
    const { _id: deliveryId } = delivery;
    return until(
      `${count} attempts at ${url}`,
      async () => {
        const first = await deliveries.findOne({ url });
        const attempts = storage.collection('callbacks', 'attempts').find({ deliveryId });
        const found = [(first?.['firstAttempt'] ?? {}) as Document, ...(await attempts.toArray())];
        const finished = found.filter(({ endedAt }) => endedAt !== undefined);
        return finished.length >= count ? finished : undefined;
      },
      ATTEMPT_TIMEOUT_MS,
    );
  }

  test('a callback is not sent inside, in whatever form the address is written', async () => {
    world().names.answer('private.attack.test', ['10.0.0.1']);
    world().names.answer('metadata.attack.test', ['169.254.169.254']);
    const urls = REFUSED_HOSTS.map(([what, host], index) => [what, `https://${host}:${insidePort}/${index}`] as const);
    await Promise.all(urls.map(([, url]) => reportTo(url)));
    const told = await Promise.all(
      urls.map(async ([what, url]) => {
        const [first] = await attemptsAt(url, 1);
        return [what, url, String(first?.['error'] ?? first?.['httpStatus'])] as const;
      }),
    );
    expect(told.filter(([, , error]) => !error.includes(' is refused ('))).toEqual([]);
    expect(connections).toBe(0);
  }, 120_000);

  test.each(INVALID_ADDRESSES)('%s is refused as callback_url and redirect_url', async (_what, address) => {
    for (const field of ['callback_url', 'redirect_url']) {
      const urls = { callback_url: 'https://shop.example/', redirect_url: 'https://shop.example/', [field]: address };
      const fields = cardRequest('SALE3D', { card_number: TEST_CARDS.frictionless.visa, ...urls });
      expect(await world().send(fields)).toMatchObject({
        code: 1004,
        message: expect.stringContaining(field) as string,
      });
    }
  });

  test('a name that changes after its look-up reaches nothing inside', async () => {
    const name = 'changes.attack.test';
    world().names.answer(name, ['127.0.0.1'], [INSIDE]);
    const url = `https://${name}:${insidePort}/`;
    await reportTo(url);
    const [first, second] = await attemptsAt(url, 2);
    // The dialled address is the one that was checked; nothing listens there.
    expect(first).toMatchObject({ error: 'ECONNREFUSED', address: '127.0.0.1' });
    expect(second).toMatchObject({ error: 'the address is refused (loopback)', address: INSIDE });
    expect(world().names.lookUps(name)).toBe(2);
    expect(connections).toBe(0);
  }, 60_000);

  test('a name with addresses outside and inside is dialled outside only', async () => {
    const name = 'mixed.attack.test';
    world().names.answer(name, [INSIDE, '127.0.0.1']);
    const url = `https://${name}:${insidePort}/`;
    await reportTo(url);
    expect(await attemptsAt(url, 1)).toMatchObject([{ error: 'ECONNREFUSED', address: '127.0.0.1' }]);
    expect(connections).toBe(0);
  }, 60_000);

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) is not followed',
    async (status) => {
      const target = encodeURIComponent(`https://${INSIDE}:${insidePort}/`);
      const url = `${world().merchant.url}/moved?as=${status}&to=${target}`;
      await reportTo(url);
      expect((await attemptsAt(url, 1))[0]).toMatchObject({ httpStatus: status });
      expect(connections).toBe(0);
    },
    60_000,
  );
}
