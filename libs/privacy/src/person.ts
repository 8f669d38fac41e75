/** What a person is known by. */
export const SELECTORS = ['holder', 'email', 'iban', 'receiver', 'reference'] as const;
export type Selector = (typeof SELECTORS)[number];

export interface Person {
  readonly by: Selector;
  readonly value: string;
}

const REFERENCE = /^[0-9A-Z]{20}$/;
const VALUE_LENGTH_MAX = 255;

/** Throws an Error with one sentence if the value cannot be one. */
export function personBy(by: Selector, given: string): Person {
  const value = by === 'iban' ? given.replace(/\s/g, '').toUpperCase() : given.trim();
  if (value === '' || value.length > VALUE_LENGTH_MAX)
    throw new Error(`the ${by} has 1 to ${VALUE_LENGTH_MAX} characters`);
  if (by === 'reference' && !REFERENCE.test(value)) throw new Error('a reference has 20 digits and upper-case letters');
  return { by, value };
}
