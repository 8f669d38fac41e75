import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Logger } from '@gateway/service-kit';
import type { AnchorStatement, SignAnchor } from './anchor-signature';
import { isSignedByOneOf } from './anchor-signature';
import type { AuditLog } from './audit-log';
import { ANCHOR_MESSAGE } from './entry';
import type { Anchor } from './verify';

/** Longer lines are not ours. */
const LINE_LENGTH_MAX = 16_384;
const SAY_AGAIN_AFTER_MS = 3_600_000;
const HASH = /^[0-9a-f]{64}$/;
const WRONG_SHOWN = 20;

/** An anchor as a log line has it. Lines of services that hold no key, and of releases before, are not signed. */
export interface LoggedAnchor extends Anchor {
  readonly signed?: { readonly anchoredAt: string; readonly signature: string };
}

/** What anchors are good for. */
export interface JudgedAnchors {
  /** Those that nothing speaks against: what they say of an entry must be true. */
  readonly credible: readonly LoggedAnchor[];
  /** Of these, those that prove that the log goes on at least as far. `signed` is only in those that were checked. */
  readonly proofs: readonly LoggedAnchor[];
  /** Sentences on anchors with a wrong signature. At most 20. */
  readonly problems: readonly string[];
}

/**
 * Logs the head of the audit log, signed, if it has changed, or once an hour. Logs leave the machine, to where no user of
 * the database can write. Command lines print no log, so their entries are anchored here alone.
 *
 * @returns work for a loop
 */
export function createHeadAnchors(options: {
  audit: Pick<AuditLog, 'list'>;
  /** Epoch ms. */
  now: () => number;
  sign: SignAnchor;
  logger: Pick<Logger, 'info'>;
}): () => Promise<void> {
  const { audit, now, sign, logger } = options;
  let saidHash: string | undefined;
  let saidAt = -Infinity;
  return async () => {
    const [head] = await audit.list({ limit: 1 });
    if (head === undefined || (head.hash === saidHash && now() - saidAt < SAY_AGAIN_AFTER_MS)) return;
    const anchoredAt = new Date(now()).toISOString();
    const statement: AnchorStatement = { sequence: head.sequence, hash: head.hash, anchoredAt };
    logger.info(ANCHOR_MESSAGE, { ...statement, signature: sign(statement) });
    [saidHash, saidAt] = [head.hash, now()];
  };
}

/** The anchors in a file of log lines, or in standard input if it is `-`. Other lines are skipped. */
export async function readAnchors(file: string): Promise<LoggedAnchor[]> {
  const anchors: LoggedAnchor[] = [];
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const anchor = anchorIn(line);
    if (anchor !== undefined) anchors.push(anchor);
  }
  return anchors;
}

/** Undefined for every other line. */
export function anchorIn(line: string): LoggedAnchor | undefined {
  if (line.length > LINE_LENGTH_MAX || !line.includes(`"${ANCHOR_MESSAGE}"`)) return undefined;
  const { message, sequence, hash, anchoredAt, signature } = fieldsIn(line);
  if (message !== ANCHOR_MESSAGE || !Number.isSafeInteger(sequence) || typeof hash !== 'string') return undefined;
  if (!HASH.test(hash)) return undefined;
  // Whatever is there instead of a signature is a wrong one, never none.
  const signed =
    signature === undefined ? {} : { signed: { anchoredAt: textOf(anchoredAt), signature: textOf(signature) } };
  return { sequence: sequence as number, hash, ...signed };
}

/**
 * Without a signature an anchor proves nothing, unless `takesUnsigned`: whoever can write a log line can say that the log
 * ends early. But it can show that an entry was there.
 *
 * @param publicKeys undefined: no signature is checked, so none counts
 */
export function judgeAnchors(
  anchors: readonly LoggedAnchor[],
  { publicKeys, takesUnsigned }: { publicKeys: readonly KeyObject[] | undefined; takesUnsigned: boolean },
): JudgedAnchors {
  const credible: LoggedAnchor[] = [];
  const proofs: LoggedAnchor[] = [];
  const problems: string[] = [];
  for (const anchor of anchors) {
    const isChecked = publicKeys !== undefined && anchor.signed !== undefined;
    if (isChecked && !isSigned(anchor, publicKeys)) {
      problems.push(`an anchor of entry ${anchor.sequence} is signed by no key of AUDIT_ANCHOR_PUBLIC_KEY`);
      continue;
    }
    credible.push(anchor);
    if (isChecked) proofs.push(anchor);
    else if (takesUnsigned) proofs.push({ sequence: anchor.sequence, hash: anchor.hash });
  }
  return { credible, proofs, problems: problems.slice(0, WRONG_SHOWN) };
}

function isSigned({ sequence, hash, signed }: LoggedAnchor, publicKeys: readonly KeyObject[]): boolean {
  if (signed === undefined) return false;
  return isSignedByOneOf(publicKeys, { sequence, hash, anchoredAt: signed.anchoredAt }, signed.signature);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function fieldsIn(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
