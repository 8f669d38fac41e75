import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createResolve } from '../src/adapters/http/guarded-lookup';

/** RFC 1035, section 4.1.1. */
const ANSWERS = { nodata: 0, servfail: 2, nxdomain: 3, refused: 5 } as const;
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

let nameServer: Socket;
let answer: keyof typeof ANSWERS | 'silence';
const asked = jest.fn<Promise<typeof LOOPBACK>, [string]>();

beforeEach(async () => {
  asked.mockReset().mockResolvedValue(LOOPBACK);
  nameServer = createSocket('udp4', (query, { port, address }) => {
    if (answer !== 'silence') nameServer.send(responseTo(query, ANSWERS[answer]), port, address);
  });
  nameServer.bind(0, '127.0.0.1');
  await once(nameServer, 'listening');
});
afterEach(() => new Promise<void>((resolve) => nameServer.close(resolve)));

/** The query without an answer, and without EDNS: QR, RD and RA are set, and the code. */
function responseTo(query: Buffer, code: number): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(0, 10);
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  return Buffer.concat([header, question]);
}

/** With the name server of this test. Only silence has to time out; answers get the time that a busy machine needs. */
function open() {
  const dns = new Resolver({ timeout: answer === 'silence' ? 200 : 5_000, tries: 1 });
  dns.setServers([`127.0.0.1:${nameServer.address().port}`]);
  return createResolve(dns, asked);
}

describe('a name', () => {
  it.each(['nxdomain', 'nodata'] as const)('that DNS does not know is left to the system: %s', async (code) => {
    answer = code;
    expect(await open()('shop.test')).toEqual(LOOPBACK);
    expect(asked.mock.calls).toEqual([['shop.test']]);
  });

  it.each([
    ['servfail', 'ESERVFAIL'],
    ['refused', 'EREFUSED'],
    ['silence', 'ETIMEOUT'],
  ] as const)('whose name servers fail is not: %s', async (code, error) => {
    answer = code;
    await expect(open()('shop.test')).rejects.toMatchObject({ code: error });
    expect(asked).not.toHaveBeenCalled();
  });

  it('without a dot is left to the system', async () => {
    expect(await open()('shop')).toEqual(LOOPBACK);
  });

  it('of this machine is found by the system', async () => {
    const found = await createResolve()('localhost');
    expect(['127.0.0.1', '::1']).toContain(found[0]?.address);
  });
});

describe('while the system looks a name up', () => {
  it('all who ask for it share the answer, and other names fail at once', async () => {
    answer = 'nxdomain';
    const system = Promise.withResolvers<typeof LOOPBACK>();
    asked.mockReturnValueOnce(system.promise);
    const resolve = open();
    const waiting = [resolve('shop'), resolve('shop')];
    await expect(resolve('other')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    await expect(resolve('other.test')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    system.resolve(LOOPBACK);
    expect(await Promise.all(waiting)).toEqual([LOOPBACK, LOOPBACK]);
    expect(asked.mock.calls).toEqual([['shop']]);
  });

  it('a failure lets the next name in', async () => {
    asked.mockRejectedValueOnce(Object.assign(new Error('getaddrinfo ENOTFOUND shop'), { code: 'ENOTFOUND' }));
    const resolve = open();
    await expect(resolve('shop')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(await resolve('other')).toEqual(LOOPBACK);
  });
});
