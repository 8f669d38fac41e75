import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forward } from './inquiry-gate';

/** A proxy before an acquirer that can hold operations and records inquiries about them. */
export interface HeldCalls {
  readonly url: string;
  /** Paths of inquiries and cancellations so far. */
  readonly questions: readonly string[];
  hold(): void;
  /** Lets new operations pass. Held ones stay held. */
  pass(): void;
  held(): number;
  release(): void;
  close(): Promise<void>;
}

const QUESTION = /^\/acquirer\/v1\/operations\/[0-9A-Z]{20}(\/cancel)?$/;

export async function holdCalls(acquirerUrl: string): Promise<HeldCalls> {
  const questions: string[] = [];
  const agent = new Agent({ keepAlive: true });
  let holding = false;
  let held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const go = (): void => forward(acquirerUrl, agent, request, response);
    const isQuestion = QUESTION.test(request.url ?? '');
    if (isQuestion) questions.push(request.url ?? '');
    if (holding && !isQuestion) held.push(go);
    else go();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    hold: () => (holding = true),
    pass: () => (holding = false),
    held: () => held.length,
    release() {
      for (const go of held) go();
      held = [];
    },
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}
