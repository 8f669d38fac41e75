import { callbackEvents } from './callback-events';
import { AnnounceOutcome, cardCommands, EndCheckout, ExpireAuthorization } from './card-commands';
import { cardEvents } from './card-events';
import type { MessageDeclaration } from './message';
import { payoutCommands, payoutEvents } from './payout-messages';
import { ReplayRequested } from './replay-messages';
import { OperationReplied } from './replies';
import { ADVICE, adviceOfCode, cardholderTextOfCode, RESPONSE_CODES, responseCodes } from './response-codes';
import { threedsCommands, threedsEvents } from './threeds-messages';
import { topics } from './topics';
import { CvvKeyIssued } from './vault-messages';

/** All message types. */
export const messages: readonly MessageDeclaration[] = [
  ...Object.values(cardCommands),
  AnnounceOutcome,
  EndCheckout,
  ExpireAuthorization,
  ...Object.values(cardEvents),
  ...Object.values(threedsCommands),
  ...Object.values(threedsEvents),
  ...Object.values(payoutCommands),
  ...Object.values(payoutEvents),
  ...Object.values(callbackEvents),
  OperationReplied,
  CvvKeyIssued,
  ReplayRequested,
];

const NARROWED_SINCE = 'Messages of releases before 0.2.0 may lack fields that are required here.';

/** JSON Schema files of all message types, for readers of the topics: file name to content. */
export function schemaFiles(): Map<string, string> {
  return new Map(messages.map((message) => [`${message.type}.json`, schemaFile(message)]));
}

/** The JSON Schema of what this release writes. */
export function publishedSchema({ type, topic, description, schema, written }: MessageDeclaration): object {
  const since = written === schema ? '' : ` ${NARROWED_SINCE}`;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: type,
    description: `${description} Topic ${topics[topic].name}.${since}`,
    ...written,
  };
}

function schemaFile(message: MessageDeclaration): string {
  return `${JSON.stringify(publishedSchema(message), null, 2)}\n`;
}

/** The registry of response codes for merchants' programs, one entry per line. */
export function registryFile(): string {
  const lines = responseCodes.map(({ name: _, cardStatus: __, advice: ___, cardholder: ____, ...entry }) => {
    const advised = { advice: adviceOfCode(entry.code), cardholderText: cardholderTextOfCode(entry.code) };
    return `  ${JSON.stringify({ ...entry, ...advised })}`;
  });
  return `[\n${lines.join(',\n')}\n]\n`;
}

/** The registry as the merchants' client has it, in TypeScript: that package may not depend on this one. */
export function clientCodesFile(): string {
  const registry = responseCodes.map(({ code, message, outcomeUnknown }) => {
    const entry = { message, outcomeUnknown, advice: adviceOfCode(code), cardholderText: cardholderTextOfCode(code) };
    return [code, entry] as const;
  });
  const literal = (value: object): string => JSON.stringify(value, null, 2);
  return [
    '// Written by `npm run docs` from libs/contracts/src/response-codes.ts.',
    '',
    "/** The codes of the gateway's answers, by name. */",
    `export const RESPONSE_CODES = ${literal(RESPONSE_CODES)} as const;`,
    '',
    '/** What to do after a code. */',
    `export const ADVICE = ${literal(ADVICE)} as const;`,
    'export type Advice = keyof typeof ADVICE;',
    '',
    '/** What the gateway says about a code. */',
    'export interface RegisteredCode {',
    '  /** For developers: never show it to a buyer. `[field]` stands for a field of the request. */',
    '  readonly message: string;',
    '  /** The operation may or may not have happened. */',
    '  readonly outcomeUnknown?: true;',
    '  readonly advice: Advice;',
    '  /** May be shown to the cardholder. Without one, nothing may. */',
    '  readonly cardholderText?: string;',
    '}',
    '',
    '/** All codes. */',
    `export const REGISTRY: Readonly<Record<number, RegisteredCode>> = ${literal(Object.fromEntries(registry))};`,
    '',
  ].join('\n');
}
