import { runCommandLine } from '@gateway/service-kit';
import { runCli } from './command-line';

runCommandLine(runCli);
