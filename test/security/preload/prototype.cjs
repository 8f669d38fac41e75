/** At the end of the process, tells whether anything has been added to what all objects inherit. */
const INHERITED = { Object, Array, Map, Function, String };
const namesOf = ({ prototype }) => JSON.stringify(Reflect.ownKeys(prototype).map(String));
const before = new Map(Object.entries(INHERITED).map(([name, type]) => [name, namesOf(type)]));

process.on('exit', () => {
  const changed = Object.entries(INHERITED).filter(([name, type]) => namesOf(type) !== before.get(name));
  process.stdout.write(`prototypes ${changed.length === 0 ? 'unchanged' : `changed: ${changed.map(String)}`}\n`);
});
