import type { CallbackEvent, CallbackView } from '@gateway/contracts';
import { listen } from '@gateway/service-kit';

/** Plays callback-dispatcher: answers queries about callbacks, as the test says. */
export interface CallbackOwner {
  /** Path and parameters of all queries. */
  readonly asked: { method: string; path: string; parameters: Record<string, string> }[];
  readonly callbacks: CallbackView[];
  /** The feed of each account. A cursor is a position in it. */
  readonly feeds: Map<string, CallbackEvent[]>;
  /** While true, queries fail. */
  away: boolean;
  /** Queries are answered when it is fulfilled. */
  ready: Promise<void>;
  readonly url: string;
  close(): Promise<void>;
}

export async function startCallbackOwner(): Promise<CallbackOwner> {
  const answer = (path: string, parameters: URLSearchParams): [status: number, body: object] => {
    const account = parameters.get('account') ?? '';
    if (owner.away) return [500, {}];
    if (path.endsWith('/resend')) {
      const found = owner.callbacks.find(({ id }) => path === `/callbacks/${id}/resend`);
      return found === undefined ? [404, {}] : [200, found];
    }
    if (path === '/callbacks') {
      const last = parameters.get('before');
      if (last !== null && !/^\d+:./.test(last)) return [404, {}];
      return [200, { callbacks: owner.callbacks, ...(last === null ? { next: '1:a' } : {}) }];
    }
    const feed = owner.feeds.get(account) ?? [];
    const after = parameters.get('after');
    if (after !== null && !(Number(after) <= feed.length)) return [404, {}];
    const events = after === null && !parameters.has('since') ? [] : feed.slice(Number(after ?? 0));
    return [200, { events, cursor: String(feed.length) }];
  };
  const server = await listen({
    listener: ({ method = '', url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://owner');
      owner.asked.push({ method, path: pathname, parameters: Object.fromEntries(searchParams) });
      void owner.ready.then(() => {
        const [status, body] = answer(pathname, searchParams);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    },
    port: 0,
    host: '127.0.0.1',
  });
  const owner: CallbackOwner = {
    asked: [],
    callbacks: [],
    feeds: new Map(),
    away: false,
    ready: Promise.resolve(),
    url: `http://127.0.0.1:${server.port}`,
    close: () => server.close(0),
  };
  return owner;
}
