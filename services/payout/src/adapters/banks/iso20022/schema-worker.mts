import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import {
  ParseOption,
  XmlCData,
  XmlComment,
  XmlDocument,
  XmlElement,
  XmlParseError,
  XmlText,
  XmlTreeNode,
  XsdValidator,
} from 'libxml2-wasm';
import type { Content, Shape } from './xml-content.js';

/**
 * Parses, validates and reads documents in a thread of its own: libxml2 blocks while it works, keeps the memory that its
 * largest document took, and comes as an ES module. What is read is the tree that was validated: no other parser sees the
 * document.
 */

interface Task {
  /** A path, or the document itself. */
  xml: string | Uint8Array;
  /** By namespace of the root element: documents that are checked. */
  schemas?: Record<string, Schema>;
  /** By namespace of the root element: documents that are read, and before that checked if there is a schema. */
  messages?: Record<string, Partial<Schema> & { shape: Shape }>;
}

interface Schema {
  path: string;
  /** The namespace in that file, if a neighbouring version's schema is used. */
  writtenFor: string;
}

/** No entity is replaced, nothing is fetched; libxml2's own bounds of depth and size hold. */
const STRICT = ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE | ParseOption.XML_PARSE_BIG_LINES;
const PROBLEM_LENGTH = 1_000;
/** Of one element. The schema bounds most, but not zeros before a number or after it. */
const TEXT_LENGTH = 1_000;
/**
 * Each tag or attribute takes up to 170 bytes of memory, and may take 3 in the file. A report on 10,000 payouts has up to
 * 900,000 if it repeats the whole of our transactions.
 */
const MAX_PARTS = 1_000_000;
/** A report on 10,000 payouts has about 150,000. */
const MAX_VALUES = 300_000;

const validators = new Map<string, XsdValidator>();

/** The message is for an operator. */
class Unreadable extends Error {}

function validatorOf(namespace: string, { path, writtenFor }: Schema): XsdValidator {
  const known = validators.get(namespace);
  if (known !== undefined) return known;
  const schema = XmlDocument.fromString(readFileSync(path, 'utf8').replaceAll(writtenFor, namespace));
  try {
    const validator = XsdValidator.fromDoc(schema);
    validators.set(namespace, validator);
    return validator;
  } finally {
    schema.dispose();
  }
}

function answerTo({ xml, schemas = {}, messages = {} }: Task): { problem?: string; content?: Content } {
  const bytes = typeof xml === 'string' ? readFileSync(xml) : xml;
  let document: XmlDocument | undefined;
  try {
    document = parsed(bytes);
    const namespace = document.root.namespaceUri;
    const known: Record<string, Partial<Schema> & { shape?: Shape }> = { ...schemas, ...messages };
    const message = Object.hasOwn(known, namespace) ? known[namespace] : undefined;
    if (message === undefined) {
      return {
        problem: `namespace ${namespace === '' ? 'none' : namespace} is not taken, only versions of ${kindsOf(known)}`,
      };
    }
    const { path, writtenFor, shape } = message;
    if (path !== undefined && writtenFor !== undefined) {
      validatorOf(namespace, { path, writtenFor }).validate(document);
    }
    return shape === undefined ? {} : { content: contentOf(document, shape) };
  } catch (error) {
    return { problem: (error as Error).message.slice(0, PROBLEM_LENGTH) };
  } finally {
    document?.dispose();
  }
}

/** `pain.002, camt.053`, in the order of the namespaces. */
function kindsOf(known: object): string {
  const kinds = Object.keys(known).map((namespace) => /[a-z]+\.\d+(?=\.\d+\.\d+$)/.exec(namespace)?.[0]);
  return [...new Set(kinds)].join(', ');
}

function parsed(bytes: Uint8Array): XmlDocument {
  if (hasTooManyParts(bytes)) throw new Unreadable(`more than ${MAX_PARTS} tags and attributes`);
  if (hasDoctypeInFront(bytes)) throw new Unreadable(NO_DOCTYPE);
  const document = parsedOrExplained(bytes);
  // Bytes that contradict their own declaration.
  const wrong = document.warnings.find(({ message }) => message.startsWith('Encoding '));
  if (wrong === undefined && document.dtd === null) return document;
  document.dispose();
  throw new Unreadable(wrong?.message.trim() ?? NO_DOCTYPE);
}

const NO_DOCTYPE = 'a DOCTYPE is not taken';
const FRONT_BYTES = 65_536;

/** Spares the parser most documents with entities. What it parses all the same, it refuses afterwards. */
function hasDoctypeInFront(bytes: Uint8Array): boolean {
  let front = asciiOf(bytes.subarray(0, FRONT_BYTES)).replace(/^[\u0080-\u00ff]+/, '');
  for (;;) {
    front = front.trimStart();
    const end = front.startsWith('<?') ? '?>' : front.startsWith('<!--') ? '-->' : undefined;
    if (end === undefined) return front.startsWith('<!DOCTYPE');
    const after = front.indexOf(end);
    if (after < 0) return false;
    front = front.slice(after + end.length);
  }
}

/** What is ASCII in the text, in every encoding that libxml2 knows. */
function asciiOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replaceAll('\0', '');
}

/** Counts `<` and `=`, in any encoding that has ASCII's bytes among its own. */
function hasTooManyParts(bytes: Uint8Array): boolean {
  const [tag, attribute] = ['<'.charCodeAt(0), '='.charCodeAt(0)];
  let parts = 0;
  for (const byte of bytes) if ((byte === tag || byte === attribute) && (parts += 1) > MAX_PARTS) return true;
  return false;
}

function parsedOrExplained(bytes: Uint8Array): XmlDocument {
  try {
    return XmlDocument.fromBuffer(bytes, { option: STRICT });
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    throw new Unreadable(error.details.map((detail) => explained(detail, bytes)).join('; '));
  }
}

const SECOND_ROOT = 'Extra content at the end of the document';
const SECOND_DECLARATION = 'XML declaration allowed only at the start of the document';

function explained({ message, line }: { message: string; line: number }, bytes: Uint8Array): string {
  const said = message.trim();
  if (said === SECOND_ROOT) return `more follows after the end of the report, at line ${line}; a file has one`;
  if (said !== SECOND_DECLARATION) return `${said} (line ${line})`;
  return `${said} (line ${line}); what it declares begins at line ${lineOfTag(bytes, line)}`;
}

/** The first line from `line` on, counted from 1, in which an element begins; `line` if there is none. */
function lineOfTag(bytes: Uint8Array, line: number): number {
  const lines = asciiOf(bytes)
    .split('\n')
    .slice(line - 1);
  const found = lines.findIndex((text) => /<[A-Za-z_]/.test(text));
  return found < 0 ? line : line + found;
}

function contentOf({ root }: XmlDocument, shape: Shape): Content {
  const below = Object.hasOwn(shape, root.name) ? shape[root.name] : undefined;
  if (below === undefined) throw new Unreadable(`${root.name} is not taken`);
  return { [root.name]: [valueOf(root, below, { values: 0 })] };
}

function valueOf(element: XmlElement, shape: 'text' | Shape, read: { values: number }): string | Content {
  if ((read.values += 1) > MAX_VALUES) throw new Unreadable(`more than ${MAX_VALUES} values`);
  if (shape === 'text') return textOf(element);
  const content: Record<string, (string | Content)[]> = {};
  const add = (name: string, value: string | Content) => void (content[name] ??= []).push(value);
  if (Object.hasOwn(shape, '#text')) add('#text', textOf(element));
  for (const { prefix, name, value } of element.attrs) {
    if (prefix === '' && Object.hasOwn(shape, `@${name}`)) add(`@${name}`, bounded(value, element));
  }
  for (const child of element.find('*')) {
    if (!(child instanceof XmlElement) || !Object.hasOwn(shape, child.name)) continue;
    add(child.name, valueOf(child, shape[child.name] as 'text' | Shape, read));
  }
  return content;
}

/** As XML has it: comments and processing instructions are no part of the text, whatever they divide. */
function textOf(element: XmlElement): string {
  const first = element.firstChild;
  const parts = first instanceof XmlText && first.next === null ? [first] : element.find('node()');
  let text = '';
  for (const part of parts) {
    if (part instanceof XmlText || part instanceof XmlCData) text += part.content;
    else if (part instanceof XmlTreeNode && !(part instanceof XmlComment)) {
      throw new Unreadable(`${element.name} at line ${element.line} is not text`);
    }
  }
  return bounded(text, element);
}

function bounded(text: string, { name, line }: XmlElement): string {
  if (text.length > TEXT_LENGTH)
    throw new Unreadable(`${name} at line ${line} is longer than ${TEXT_LENGTH} characters`);
  return text;
}

parentPort?.on('message', (task: Task) => {
  parentPort?.postMessage(answerTo(task));
});
