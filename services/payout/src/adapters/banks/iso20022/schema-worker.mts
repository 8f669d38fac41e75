import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { ParseOption, XmlDocument, XsdValidator } from 'libxml2-wasm';

/**
 * Parses and validates documents by XML Schema in a thread of its own: libxml2 blocks while it works, keeps the memory
 * that its largest document took, and comes as an ES module.
 */

interface Task {
  /** A path, or the document itself. */
  xml: string | Uint8Array;
  /** Path of the schema by namespace of the root element. */
  schemas: Record<string, string>;
}

/** No entity is replaced, nothing is fetched; libxml2's own bounds of depth and size hold. */
const STRICT = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE;
const PROBLEM_LENGTH = 1_000;

const validators = new Map<string, XsdValidator>();

function validatorOf(path: string): XsdValidator {
  const known = validators.get(path);
  if (known !== undefined) return known;
  const schema = XmlDocument.fromBuffer(readFileSync(path));
  try {
    const validator = XsdValidator.fromDoc(schema);
    validators.set(path, validator);
    return validator;
  } finally {
    schema.dispose();
  }
}

function problemOf({ xml, schemas }: Task): string | undefined {
  const bytes = typeof xml === 'string' ? readFileSync(xml) : xml;
  let document: XmlDocument | undefined;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: STRICT });
    const namespace = document.root.namespaceUri;
    const schema = schemas[namespace];
    if (schema === undefined) {
      return `namespace ${namespace === '' ? 'none' : namespace} is not taken, only ${Object.keys(schemas).join(', ')}`;
    }
    validatorOf(schema).validate(document);
    return undefined;
  } catch (error) {
    return (error as Error).message.slice(0, PROBLEM_LENGTH);
  } finally {
    document?.dispose();
  }
}

parentPort?.on('message', (task: Task) => {
  parentPort?.postMessage({ problem: problemOf(task) });
});
