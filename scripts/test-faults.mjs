/** `npm run test:faults [-- --seed N] [--minutes N] [--long] [--mutations | --alerts] [jest's arguments]`: see docs/faults.md. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectNode, root } from './checkout.mjs';

const LONG_MINUTES = '60';

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    long: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    alerts: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    outputFile: { type: 'string' },
    testNamePattern: { type: 'string', short: 't' },
  },
  allowPositionals: true,
});

const minutes = values.minutes ?? (values.long ? LONG_MINUTES : undefined);
const jestArguments = [
  values.mutations ? 'mutations.run' : values.alerts ? 'alerts.run' : 'faults.run',
  ...(values.json ? ['--json'] : []),
  ...(values.outputFile === undefined ? [] : [`--outputFile=${values.outputFile}`]),
  ...(values.testNamePattern === undefined ? [] : [`--testNamePattern=${values.testNamePattern}`]),
  ...positionals,
];
const { status } = spawnSync(
  projectNode,
  [join(root, 'scripts', 'test.mjs'), '--config', 'jest.faults.cjs', ...jestArguments],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(values.seed === undefined ? {} : { FAULTS_SEED: values.seed }),
      ...(minutes === undefined ? {} : { FAULTS_MINUTES: minutes }),
    },
  },
);
process.exit(status ?? 1);
