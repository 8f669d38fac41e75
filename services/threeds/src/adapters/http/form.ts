const utf8 = new TextDecoder('utf-8', { fatal: true });
const FORM = 'application/x-www-form-urlencoded';

/** A form's fields by name. Undefined for another content type, invalid UTF-8, and duplicate names. */
export function parseForm(body: Buffer, contentType: string | undefined): ReadonlyMap<string, string> | undefined {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== FORM) return undefined;
  const text = textOf(body);
  if (text === undefined) return undefined;
  const pairs = [...new URLSearchParams(text)];
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
