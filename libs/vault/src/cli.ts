import { runCommandLine } from '@gateway/service-kit';
import { main } from './command-line';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

runCommandLine((args, env, out) =>
  main([...args], { env, out, err: (text) => console.error(text), signal: stopping.signal }),
);
