import { join } from 'node:path';
import { gatewayOfCheckout } from './checkout';
import { runCli } from './run';
import { printable } from './terminal';

const print = (line: string): void => void process.stdout.write(`${printable(line)}\n`);
const warn = (line: string): void => void process.stderr.write(`${printable(line)}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
const env = { ...gatewayOfCheckout(join(__dirname, '..', '..', '..', '..')), ...process.env };
void runCli(process.argv.slice(2), env, { print, warn }).then((code) => process.exit(code));
