import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import Ajv from 'ajv';
import { commonSettings, identitySettings, loadConfig } from './config';
import { ConfigurationError } from './configuration-error';
import { messageOf } from './errors';
import { isPublishedHash } from './published-secrets';
import type { Environment } from './secret-settings';

/** Services that use the simulator's counterparts. Their identities are needed only where these ask for one. */
export const SANDBOX_CALLERS = ['card-processing', 'threeds', 'payout'] as const;

/** Who may call internal ports: services, operators, and whoever collects metrics. Each route names its own. */
export const CALLER_KINDS = ['api-edge', ...SANDBOX_CALLERS, 'callback-dispatcher', 'operator', 'metrics'] as const;
export type CallerKind = (typeof CALLER_KINDS)[number];

export interface Caller {
  /** Of a person, a service or a collector. */
  name: string;
  kind: CallerKind;
}

const CALLERS_MAX = 1_000;

const callersSchema = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$' }),
      kind: Type.Union(CALLER_KINDS.map((kind) => Type.Literal(kind))),
      tokenSha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    },
    { additionalProperties: false },
  ),
  { minItems: 1, maxItems: CALLERS_MAX },
);

const isCallers = new Ajv({ validateSchema: false }).compile<Static<typeof callersSchema>>(callersSchema);

/** Refuses tokens that everyone can read in this repository, of which the file has only hashes. @throws Error with one sentence */
export function refusePublishedTokens(callers: Callers): Callers {
  for (const [sha256, { name }] of callers) {
    if (isPublishedHash(sha256)) throw new Error(`the token of ${name} is published with this software`);
  }
  return callers;
}

/** By the SHA-256 of the token, in hex. */
export type Callers = ReadonlyMap<string, Caller>;

/**
 * Reads the text of a CALLERS_FILE: a JSON list of `{ name, kind, tokenSha256 }`. A name may come twice, with two tokens,
 * while its token is replaced. @throws Error with one sentence
 */
export function parseCallers(text: string): Callers {
  const list = parseJson(text);
  if (!isCallers(list)) {
    const [problem] = isCallers.errors ?? [];
    throw new Error(`the list of callers is wrong: ${problem?.instancePath || 'it'} ${problem?.message}`);
  }
  const byToken = new Map<string, Caller>();
  const kinds = new Map<string, CallerKind>();
  for (const { name, kind, tokenSha256 } of list) {
    if (byToken.has(tokenSha256)) throw new Error(`${name} has the token of another entry`);
    if ((kinds.get(name) ?? kind) !== kind) throw new Error(`${name} has two kinds`);
    kinds.set(name, kind);
    byToken.set(tokenSha256, { name, kind });
  }
  return byToken;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the file.
    throw new Error('the list of callers is not JSON');
  }
}

/** Takes the same time for every unknown token: only its hash is looked up. */
export function callerOf(callers: Callers, token: string): Caller | undefined {
  return callers.get(createHash('sha256').update(token).digest('hex'));
}

/** The token that this process presents to internal ports, if it has one. @throws ConfigurationError if it is malformed */
export function identityTokenFrom(env: Environment): string | undefined {
  return loadConfig(Type.Object(identitySettings), env).IDENTITY_TOKEN;
}

const { CALLERS_FILE } = commonSettings;
/** Of command lines whose operator is on record. */
export const operatorSettings = Type.Required(Type.Object({ ...identitySettings, CALLERS_FILE }));

/**
 * The operator who runs a command line that writes to databases itself: whose token IDENTITY_TOKEN is in CALLERS_FILE.
 *
 * @throws ConfigurationError if a setting is missing, the file cannot be used, or the token is not an operator's
 */
export function operatorFrom(env: Environment): Caller {
  const { IDENTITY_TOKEN: token, CALLERS_FILE: file } = loadConfig(operatorSettings, env);
  const caller = callerOf(readCallers(file), token);
  if (caller === undefined)
    throw new ConfigurationError('Configuration: CALLERS_FILE has no entry for IDENTITY_TOKEN.');
  if (caller.kind === 'operator') return caller;
  throw new ConfigurationError(`Configuration: IDENTITY_TOKEN belongs to ${caller.name}, who is not an operator.`);
}

/** @throws ConfigurationError if the file cannot be used */
export function readCallers(file: string): Callers {
  try {
    return parseCallers(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigurationError(`Configuration: CALLERS_FILE: ${messageOf(error)}.`);
  }
}
