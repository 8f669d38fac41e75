export type { CommandLineIo } from './command-line';
export { runCli } from './command-line';
