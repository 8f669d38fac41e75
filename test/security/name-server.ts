import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A DNS server on loopback whose answers the test decides. */
export interface NameServer {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Each look-up of the name gets the next list of IPv4 addresses; the last one stays. */
  answer(name: string, ...addresses: (readonly string[])[]): void;
  /** The look-ups of IPv4 addresses so far. */
  lookUps(name: string): number;
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
const CLASS_IN = 1;
/** An answer, recursion desired and available, no error. */
const FLAGS = 0x8180;
/** RFC 1035, 4.1.4: the name of the question. */
const POINTER_TO_QUESTION = 0xc000 | HEADER_BYTES;
const ANSWER_BYTES = 16;

export async function startNameServer(): Promise<NameServer> {
  const answers = new Map<string, (readonly string[])[]>();
  const asked = new Map<string, number>();
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');

  function addressesOf(name: string, type: number): readonly string[] {
    if (type !== TYPE_A) return [];
    asked.set(name, (asked.get(name) ?? 0) + 1);
    const left = answers.get(name) ?? [];
    return (left.length > 1 ? left.shift() : left[0]) ?? [];
  }

  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionIn(query);
    socket.send(replyTo(query.subarray(0, end), addressesOf(name, type)), port, address);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    answer: (name, ...addresses) => void answers.set(name, addresses),
    lookUps: (name) => asked.get(name) ?? 0,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function questionIn(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(FLAGS, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.fill(0, 8, HEADER_BYTES);
  return Buffer.concat([head, ...addresses.map(answerOf)]);
}

function answerOf(address: string): Buffer {
  const answer = Buffer.alloc(ANSWER_BYTES);
  answer.writeUInt16BE(POINTER_TO_QUESTION, 0);
  answer.writeUInt16BE(TYPE_A, 2);
  answer.writeUInt16BE(CLASS_IN, 4);
  // No time to live: a cache may not keep it.
  answer.writeUInt16BE(4, 10);
  for (const [index, byte] of address.split('.').entries()) answer.writeUInt8(Number(byte), 12 + index);
  return answer;
}
