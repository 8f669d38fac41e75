import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Logger } from '@gateway/service-kit';
import type { AuditLog } from './audit-log';
import { ANCHOR_MESSAGE } from './entry';
import type { Anchor } from './verify';

/** Longer lines are not ours. */
const LINE_LENGTH_MAX = 16_384;
const SAY_AGAIN_AFTER_MS = 3_600_000;
const HASH = /^[0-9a-f]{64}$/;

/**
 * Logs the head of the audit log if it has changed, or once an hour. Logs leave the machine, to where no user of the
 * database can write. Command lines print no log, so their entries are anchored here alone.
 *
 * @returns work for a loop
 */
export function createHeadAnchors(options: {
  audit: Pick<AuditLog, 'list'>;
  /** Epoch ms. */
  now: () => number;
  logger: Pick<Logger, 'info'>;
}): () => Promise<void> {
  const { audit, now, logger } = options;
  let saidHash: string | undefined;
  let saidAt = -Infinity;
  return async () => {
    const [head] = await audit.list({ limit: 1 });
    if (head === undefined || (head.hash === saidHash && now() - saidAt < SAY_AGAIN_AFTER_MS)) return;
    logger.info(ANCHOR_MESSAGE, { sequence: head.sequence, hash: head.hash });
    [saidHash, saidAt] = [head.hash, now()];
  };
}

/** The anchors in a file of log lines, or in standard input if it is `-`. Other lines are skipped. */
export async function readAnchors(file: string): Promise<Anchor[]> {
  const anchors: Anchor[] = [];
  const input = file === '-' ? process.stdin : createReadStream(file);
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const anchor = anchorIn(line);
    if (anchor !== undefined) anchors.push(anchor);
  }
  return anchors;
}

/** Undefined for every other line. */
export function anchorIn(line: string): Anchor | undefined {
  if (line.length > LINE_LENGTH_MAX || !line.includes(`"${ANCHOR_MESSAGE}"`)) return undefined;
  const { message, sequence, hash } = fieldsIn(line);
  if (message !== ANCHOR_MESSAGE || !Number.isSafeInteger(sequence) || typeof hash !== 'string') return undefined;
  return HASH.test(hash) ? { sequence: sequence as number, hash } : undefined;
}

function fieldsIn(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
