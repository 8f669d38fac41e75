import { RawText } from '@gateway/contracts';
import type { RawValue } from './body';
import { RawFields } from './body';

/** A value as tests write it. */
export type Sent = string | RawValue;

/** The fields of a body that has these values. */
export function rawFields(sent: Readonly<Record<string, Sent>> | ReadonlyMap<string, Sent> = {}): RawFields {
  const entries = sent instanceof Map ? [...sent] : Object.entries(sent as Readonly<Record<string, Sent>>);
  return new RawFields(new Map(entries.map(([name, value]) => [name, rawValue(value)])));
}

export function rawValue(value: Sent): RawValue {
  return typeof value === 'string' ? new RawText(value) : value;
}
