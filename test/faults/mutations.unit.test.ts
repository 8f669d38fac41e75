import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ADDITIONS } from '../upgrade/additions';
import { MUTATIONS } from './mutations';

const root = join(__dirname, '..', '..');
const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile) as {
  config: { compilerOptions: object };
};
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);

/** The built file, such as `mongo/dist/outbox.js`. */
function built(file: string): string {
  const path = file.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
  const [fileName = path] = ['libs', 'services'].map((folder) => join(root, folder, path)).filter(ts.sys.fileExists);
  return ts.transpileModule(readFileSync(fileName, 'utf8'), { fileName, compilerOptions: options }).outputText;
}

const EDITS = [
  ...MUTATIONS.map(({ guard, edits, delays = [] }) => [guard, [...edits, ...delays]] as const),
  ['additions of the upgrade run', ADDITIONS] as const,
];

test.each(EDITS)('each text of the mutation "%s" occurs exactly once', (_guard, edits) => {
  for (const { file, find } of edits) {
    expect({ file, find, times: built(file).split(find).length - 1 }).toEqual({ file, find, times: 1 });
  }
});
