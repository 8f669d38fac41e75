/** `npm run test:upgrade [-- --from TAG|COMMIT] [--seed N] [jest's arguments]`: see docs/operator.md#upgrading. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectNode, root } from './checkout.mjs';
import { explain } from './failure.mjs';
import { builtCheckout, lastRelease } from './upgrade/last-release.mjs';

const { values, positionals } = parseArgs({
  options: {
    from: { type: 'string' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    outputFile: { type: 'string' },
  },
  allowPositionals: true,
});

try {
  const release = lastRelease(values.from);
  const { status } = spawnSync(
    projectNode,
    [
      ...[join(root, 'scripts', 'test.mjs'), '--config', 'jest.upgrade.cjs'],
      ...(values.json ? ['--json'] : []),
      ...(values.outputFile === undefined ? [] : [`--outputFile=${values.outputFile}`]),
      ...positionals,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        ...(release === undefined
          ? {}
          : { UPGRADE_FROM: release.name, UPGRADE_FROM_FOLDER: builtCheckout(release.commit) }),
        ...(values.seed === undefined ? {} : { FAULTS_SEED: values.seed }),
      },
    },
  );
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
