// For `node --require`: edits built files as Node loads them. MUTATION is a JSON list of {file, find, replace}. The
// process exits if a text does not occur exactly once, since the edit would change nothing or too much.
const { readFileSync } = require('node:fs');
const Module = require('node:module');

const edits = JSON.parse(process.env.MUTATION);
const load = Module._extensions['.js'];

Module._extensions['.js'] = (module, filename) => {
  const own = edits.filter(({ file }) => filename.endsWith(file));
  if (own.length === 0) return load(module, filename);
  let source = readFileSync(filename, 'utf8');
  for (const { file, find, replace } of own) {
    if (source.split(find).length !== 2) {
      process.stderr.write(`mutation: ${file} does not have exactly one ${JSON.stringify(find)}\n`);
      process.exit(70);
    }
    source = source.replace(find, () => replace);
  }
  return module._compile(source, filename);
};
