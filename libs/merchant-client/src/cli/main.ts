import { runCli } from './run';

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const warn = (line: string): void => void process.stderr.write(`${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
void runCli(process.argv.slice(2), process.env, { print, warn }).then((code) => process.exit(code));
