import type { Content } from './xml-content';

/** The additional information of a reason may be long; more is cut. */
const DESCRIPTION_LENGTH = 255;

export function nodes(parent: Content, name: string): Content[] {
  return values(parent, name).filter((value) => typeof value !== 'string');
}

export function texts(parent: Content, name: string): string[] {
  return values(parent, name).filter((value) => typeof value === 'string');
}

/** The first one; an empty one if there is none. */
export function node(parent: Content, name: string): Content {
  return nodes(parent, name)[0] ?? {};
}

export function text(parent: Content, name: string): string | undefined {
  return texts(parent, name)[0];
}

/** Lines of additional information as one text, cut between two characters; undefined if there is none. */
export function description(parents: readonly Content[], name: string): string | undefined {
  const lines = parents.flatMap((parent) => texts(parent, name));
  // A character takes two places at most.
  const beginning = lines.join(' ').slice(0, 2 * DESCRIPTION_LENGTH);
  const cut = [...beginning].slice(0, DESCRIPTION_LENGTH).join('');
  return cut === '' ? undefined : cut;
}

function values(parent: Content, name: string): readonly (string | Content)[] {
  return parent[name] ?? [];
}
