import { fieldsOfScenario, scenarios, TEST_CURRENCY } from '@gateway/contracts';
import type { Print } from '@gateway/service-kit';

const WRONG_USAGE = 2;
const USAGE = `usage: npm run sandbox -- scenarios         what the sandbox does on request, by test card and amount
       npm run sandbox -- fields SCENARIO   the fields that choose it, as a form: curl -d "$(npm run --silent sandbox -- fields …)"`;
const COLUMNS = ['scenario', `send in ${TEST_CURRENCY}`, 'with', 'then'];

/** Runs one command. @returns the exit code: 0, 1 for an unknown scenario, 2 for wrong usage */
export function runCli(args: readonly string[], print: Print): number {
  const [name, scenario, ...more] = args;
  if (name === 'scenarios' && args.length === 1) {
    printTable(print);
    return 0;
  }
  if (name === 'fields' && scenario !== undefined && more.length === 0) return printFields(scenario, print);
  if (args.length > 0 && name !== 'help') print(`Wrong arguments: ${args.join(' ')}`);
  print(USAGE);
  return name === 'help' ? 0 : WRONG_USAGE;
}

function printTable(print: Print): void {
  const rows = scenarios().map(({ name, fields, operations, outcome }) => [
    name,
    Object.entries(fields)
      .map((field) => field.join('='))
      .join(' '),
    operations,
    outcome,
  ]);
  const lines = [COLUMNS, ...rows];
  const widths = COLUMNS.map((_name, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines)
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function printFields(scenario: string, print: Print): number {
  const fields = fieldsOfScenario(scenario);
  print(fields === undefined ? `There is no scenario "${scenario}".` : new URLSearchParams(fields).toString());
  return fields === undefined ? 1 : 0;
}

// It reads no settings, so it needs no profile.
if (require.main === module) {
  process.exitCode = runCli(process.argv.slice(2), (line) => void process.stdout.write(`${line}\n`));
}
