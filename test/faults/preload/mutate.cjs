// Changes a text in what was built, as it is loaded: for `node --require`. MUTATION is {file, find, replace} in JSON.
// A mutation whose text is not there would mutate nothing and be "caught" by nothing: the process ends instead.
const { readFileSync } = require('node:fs');
const Module = require('node:module');

const { file, find, replace } = JSON.parse(process.env.MUTATION);
const load = Module._extensions['.js'];

Module._extensions['.js'] = (module, filename) => {
  if (!filename.endsWith(file)) return load(module, filename);
  const source = readFileSync(filename, 'utf8');
  if (source.split(find).length !== 2) {
    process.stderr.write(`mutation: ${file} does not have exactly one ${JSON.stringify(find)}\n`);
    process.exit(70);
  }
  return module._compile(
    source.replace(find, () => replace),
    filename,
  );
};
