import { isIPv4, isIPv6 } from 'node:net';
import { RawText } from '@gateway/contracts';
import { isoBankAddresses } from '../../services/api-edge/src/adapters/bank-addresses/iso';
import { rowsOf } from '../../services/api-edge/src/adapters/openapi/request-schemas';
import type { Operation } from '../../services/api-edge/src/application/endpoint';
import { merchantEndpoints } from '../../services/api-edge/src/application/endpoints';
import type { Document, Exchange, Formats, Schema } from './documented-api';
import { createChecker } from './documented-api';
import { CARD_PATH } from './system';

/** Codes of requests that are refused for their fields. */
const FIRST_REQUEST_CODE = 1_001;
const LAST_REQUEST_CODE = 1_006;
/** From here on a request has passed the checks of its fields. */
const FIRST_LATER_CODE = 3_000;

export interface Judgement {
  /** Right requests that were refused, and wrong ones that were not, one sentence for each kind. */
  problems: string[];
  right: number;
  wrong: number;
}

interface Refused {
  code: number;
  message?: string;
  errors?: { field: string; reason: string }[];
}

/** Compares what the gateway made of requests with what the document says of their bodies. */
export function requestProblems(document: Document, exchanges: readonly Exchange[]): Judgement {
  const { matches } = createChecker(document, formatsOfRules());
  const problems = new Map<string, string>();
  const counts = { right: 0, wrong: 0 };
  for (const { path, method, status, requestType, requestText, text } of exchanges) {
    const operations = document.paths[path]?.post['x-operations'];
    const fields = fieldsOf(path, requestType, requestText);
    if (operations === undefined || method !== 'POST' || status !== 200 || fields === undefined) continue;
    const isRight = operations.some(({ request }) => matches(request, fields));
    counts[isRight ? 'right' : 'wrong'] += 1;
    const answer = JSON.parse(text) as Refused;
    if (isRight ? !isRefused(answer) : !isTaken(answer)) continue;
    const operation = `${path} ${String(fields['transaction_type'])}`;
    const kind = `${operation} is ${isRight ? 'right' : 'wrong'}, and gets ${answer.code} ${answer.message ?? ''}`;
    problems.set(kind, `${kind}: ${requestText} ${JSON.stringify(answer.errors)}`);
  }
  return { problems: [...problems.values()], ...counts };
}

/** For fields of the body, by a rule that its schema could have. */
function isRefused({ code, errors = [] }: Refused): boolean {
  const isOfRequest = code >= FIRST_REQUEST_CODE && code <= LAST_REQUEST_CODE;
  return isOfRequest && !errors.every(isBeyondSchemas);
}

function isTaken({ code }: Refused): boolean {
  return code === 0 || code >= FIRST_LATER_CODE;
}

/**
 * The document says these in words: rules of two fields, of the whole body, of a header, of values of the gateway, and of
 * decimals (`multipleOf` 0.0001 is wrong about many a binary fraction).
 */
function isBeyondSchemas({ field, reason }: { field: string; reason: string }): boolean {
  return (
    ['shows-card-number', 'body-format', 'too-many-decimals'].includes(reason) ||
    ['Idempotency-Key', 'cursor'].includes(field)
  );
}

/** As the document's description says, so no schema does. */
function isAbsent(value: unknown): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '');
}

/** The account of these tests has no callbacks about holds, so the gateway ignores the field in its AUTHs. */
const isIgnored = (path: string, name: string, { transaction_type: type }: Schema): boolean =>
  path === CARD_PATH && type === 'AUTH' && name === 'callback_url';

function fieldsOf(path: string, type: string, text: string): Schema | undefined {
  try {
    const isJson = type.startsWith('application/json');
    const fields = isJson ? (JSON.parse(text) as Schema) : Object.fromEntries(new URLSearchParams(text));
    const counts = ([name, value]: [string, unknown]) => !isAbsent(value) && !isIgnored(path, name, fields);
    return Object.fromEntries(Object.entries(fields).filter(counts));
  } catch {
    return undefined;
  }
}

/** A format means what the rule of its field says: no schema can. */
function formatsOfRules(): Formats {
  const operations = Object.values(merchantEndpoints(isoBankAddresses)).flatMap<Operation>((one) => one.operations);
  const ofFields = operations.flatMap(rowsOf).flatMap(({ schema: { format }, read }) => {
    const isRight = (text: string): boolean => read(new RawText(text), Date.now()) !== undefined;
    return typeof format === 'string' ? [[format, isRight] as const] : [];
  });
  return { ipv4: isIPv4, ipv6: isIPv6, ...Object.fromEntries(ofFields) };
}
