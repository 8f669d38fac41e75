import { askWithoutEcho, runCommandLine } from '@gateway/service-kit';
import { main } from './command-line';

runCommandLine((args, env, out) =>
  main([...args], { env, ask: askWithoutEcho, out, err: (text) => console.error(text) }),
);
