/**
 * Reads JSON from outside. Undefined for a text that is none, and where an object has a name twice: JSON.parse takes the
 * last one, other readers the first, so there would be two answers. A name with an escape makes a text none too: nobody
 * needs one, and V8 13.6 takes some for a name that it read before.
 */
export function readJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return plainNames(text) === namesRead(value) ? value : undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** How many names are written; undefined if one has an escape. A colon that is not in a text follows a name. */
function plainNames(json: string): number | undefined {
  let names = 0;
  let inText = false;
  let isEscaped = false;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) {
      inText = !inText;
      isEscaped &&= !inText;
    } else if (unit === BACKSLASH) {
      isEscaped = true;
      at += 1;
    } else if (unit === COLON && !inText) {
      if (isEscaped) return undefined;
      names += 1;
    }
  }
  return names;
}

/** Without recursion: JSON.parse takes any depth. */
function namesRead(json: unknown): number {
  const left = [json];
  let names = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inside: unknown[] = Object.values(value);
    if (!Array.isArray(value)) names += inside.length;
    for (const one of inside) left.push(one);
  }
  return names;
}
