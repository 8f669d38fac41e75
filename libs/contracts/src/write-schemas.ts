import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registryFile, schemaFiles } from './schema-files';

/** `npm run schemas`: writes docs/schemas and docs/response-codes.json anew from the declarations. */
const docs = join(__dirname, '..', '..', '..', 'docs');
const folder = join(docs, 'schemas');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, content] of schemaFiles()) writeFileSync(join(folder, name), content);
writeFileSync(join(docs, 'response-codes.json'), registryFile());
