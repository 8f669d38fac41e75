import { RawText } from '@gateway/contracts';
import type { RawValue } from './body';
import { RawFields } from './body';

/** A value as tests write it. */
export type Sent = string | RawValue;

/** The fields of a body that has these values. */
export function rawFields(sent: Readonly<Record<string, Sent>> | ReadonlyMap<string, Sent> = {}): RawFields {
  const entries: Iterable<[string, Sent]> = isMap(sent) ? sent : Object.entries(sent);
  return new RawFields(new Map(Array.from(entries, ([name, value]) => [name, rawValue(value)])));
}

function isMap(sent: object): sent is ReadonlyMap<string, Sent> {
  return sent instanceof Map;
}

export function rawValue(value: Sent): RawValue {
  return typeof value === 'string' ? new RawText(value) : value;
}
