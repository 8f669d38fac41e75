import type { EchoedAmount } from '../../../domain/iso20022/status-report';
import type { Content, Shape } from './xml-content';

/** An amount with its currency. */
export const AMOUNT = { '@Ccy': 'text', '#text': 'text' } as const satisfies Shape;
/** A reason: a code, and words. */
export const REASON = { Rsn: { Cd: 'text', Prtry: 'text' }, AddtlInf: 'text' } as const satisfies Shape;

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
function description(parents: readonly Content[], name: string): string | undefined {
  const lines = parents.flatMap((parent) => texts(parent, name));
  // A character takes two places at most.
  const beginning = lines.join(' ').slice(0, 2 * DESCRIPTION_LENGTH);
  const cut = [...beginning].slice(0, DESCRIPTION_LENGTH).join('');
  return cut === '' ? undefined : cut;
}

function values(parent: Content, name: string): readonly (string | Content)[] {
  return parent[name] ?? [];
}

/** What is read by {@link AMOUNT}, each time that it is there. */
export function amounts(parent: Content, name: string): EchoedAmount[] {
  return nodes(parent, name).map((one) => ({ amount: text(one, '#text') ?? '', currency: text(one, '@Ccy') ?? '' }));
}

/** What is read by {@link REASON}: all codes, and the words of all as one text. */
export function reasons(infos: readonly Content[]): { codes: string[]; description?: string } {
  const codes = infos.map((info) => node(info, 'Rsn')).flatMap((one) => text(one, 'Cd') ?? text(one, 'Prtry') ?? []);
  const words = description(infos, 'AddtlInf');
  return { codes, ...(words === undefined ? {} : { description: words }) };
}
