import { askWithoutEcho, runCommandLine } from '@gateway/service-kit';
import { runCli } from './command-line';

runCommandLine((args, env, print) => runCli(args, { env, ask: askWithoutEcho, print }));
