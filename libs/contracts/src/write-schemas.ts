import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaFiles } from './schema-files';

/** `npm run schemas`: writes docs/schemas anew from the declarations. */
const folder = join(__dirname, '..', '..', '..', 'docs', 'schemas');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, content] of schemaFiles()) writeFileSync(join(folder, name), content);
