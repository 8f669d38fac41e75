import { RawText } from '@gateway/contracts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const FORM = 'application/x-www-form-urlencoded';

/** With its parameters. */
const CONTENT_TYPE_LENGTH_MAX = 1_000;
/** Merchants' pages send three fields, the ACS two. */
const PAIRS_MAX = 100;

/** A form's fields by name. Undefined for another content type, invalid UTF-8, duplicate names and too many pairs. */
export function parseForm(body: Buffer, contentType: RawText | undefined): ReadonlyMap<string, RawText> | undefined {
  const [mediaType = ''] = (contentType?.within(CONTENT_TYPE_LENGTH_MAX) ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== FORM) return undefined;
  const text = textOf(body);
  if (text === undefined || text.split('&', PAIRS_MAX + 1).length > PAIRS_MAX) return undefined;
  const pairs = Array.from(new URLSearchParams(text), ([name, value]) => [name, new RawText(value)] as const);
  const fields = new Map(pairs);
  return fields.size === pairs.length ? fields : undefined;
}

function textOf(body: Buffer): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}
