import { setTimeout as pause } from 'node:timers/promises';
import type { Account, FollowedClock, KeptRequest, SandboxClocks } from '@gateway/accounts';
import { allHaveFollowed, mayMoveClock, moveOf, refusalOfMove } from '@gateway/accounts';
import type { AuditLog } from '@gateway/audit';
import { unixSeconds } from '@gateway/contracts';
import type { Incoming } from './admit';
import { notAllowed } from './choose-operation';
import { clockEndpoint } from './endpoints';
import { handleRequest } from './handle-request';
import type { Idempotency, Ports } from './ports';
import type { Answer, Session } from './responses';
import { keyUsed, sandboxAnswer, tooManyRequests } from './responses';

const SECOND_MS = 1_000;
/** How long an answer waits for the services to follow. The clock is moved in any case. */
const FOLLOW_TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 50;
const NEVER_LIVE = 'Send it for a sandbox account that was never live: only the clock of such an account moves';

export interface ClockPorts extends Ports {
  clocks: SandboxClocks;
  /** The account as it is now, not as it was cached. */
  latestAccount(merchantAccount: string): Promise<Account | undefined>;
  audit: Pick<AuditLog, 'record'>;
}

/**
 * `POST /api/sandbox/clock`: moves the clock of a sandbox account forward, or reads it. Refused (2004) for an account that
 * may ever move real money. The answer comes when everything of the account that waits for a time has followed, at the
 * latest after 10 s.
 */
export function handleClockRequest(ports: ClockPorts, incoming: Incoming): Promise<Answer> {
  return handleRequest(ports, incoming, clockEndpoint, {
    checkRules: () => undefined,
    async carryOut(session, { merchantAccount }, { advanceSeconds }, idempotencies) {
      const account = await ports.latestAccount(merchantAccount);
      if (account === undefined || !mayMoveClock(account)) {
        return notAllowed(session, ports.now(), { whoMay: NEVER_LIVE });
      }
      const known = await ports.clocks.find(merchantAccount);
      if (advanceSeconds === undefined) return clockResponse(session, { known, at: ports.now() });
      const replay = await replayOf(ports, session, known, idempotencies);
      if (replay !== undefined) return replay;
      const byMs = advanceSeconds * SECOND_MS;
      // Entries of the audit log are written one after the other, for everyone: a merchant adds one for each move alone.
      const refusal = known && refusalOfMove(known, byMs, ports.now());
      if (refusal !== undefined) return tooMuch(session, ports.now(), refusal.until);
      return move(ports, session, { merchantAccount, byMs, idempotencies, from: incoming.sourceIp }, known);
    },
  });
}

interface Move {
  merchantAccount: string;
  byMs: number;
  idempotencies: readonly Idempotency[];
  /** The merchant's address. */
  from: string;
}

async function move(
  ports: ClockPorts,
  session: Session,
  { merchantAccount, byMs, idempotencies, from }: Move,
  known: FollowedClock | undefined,
): Promise<Answer> {
  const [idempotency] = idempotencies;
  const moved = await ports.audit.record(
    {
      operator: { name: `merchant ${merchantAccount}`, from },
      action: 'clock.move',
      subject: merchantAccount,
      before: { aheadSeconds: secondsOf(known?.aheadMs ?? 0) },
    },
    () => ports.clocks.move(merchantAccount, byMs, idempotency && keptOf(idempotency, session)),
    (result) => ('kind' in result ? { refused: result.kind } : { aheadSeconds: secondsOf(result.aheadMs) }),
  );
  const now = ports.now();
  if (!('kind' in moved)) {
    const at = moved.moves.at(-1)?.at ?? now;
    return clockResponse(session, { known: await untilFollowed(ports, moved), at });
  }
  if (moved.kind === 'too-much') return tooMuch(session, now, moved.until);
  // Another request with the same key came first.
  const replay = await replayOf(ports, session, await ports.clocks.find(merchantAccount), idempotencies);
  if (replay === undefined) throw new Error('broken invariant: a repeated move is not on record');
  return replay;
}

/** Until that time (epoch ms). */
function tooMuch(session: Session, now: number, until: number): Answer {
  const retryAfterSeconds = Math.max(1, Math.ceil((until - now) / SECOND_MS));
  return tooManyRequests(session, now, { reason: 'clock-limits', retryAfterSeconds });
}

function keptOf({ key, bodyHash }: Idempotency, { sessionId }: Session): KeptRequest {
  return { key, bodyHash, sessionId };
}

/** The clock when all services have followed this far, or when the time for an answer is over. */
async function untilFollowed(ports: ClockPorts, moved: FollowedClock): Promise<FollowedClock> {
  const { merchantAccount, aheadMs } = moved;
  const attempts = Math.min(FOLLOW_TIMEOUT_MS, ports.replyTimeoutMs) / LOOK_EVERY_MS;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await pause(LOOK_EVERY_MS);
    // A fault must not end in the answer that nothing was done.
    const clock = await ports.clocks.find(merchantAccount).catch(() => undefined);
    if (clock !== undefined && allHaveFollowed(clock, aheadMs)) return { ...moved, followed: clock.followed };
  }
  return moved;
}

/** The answer to the same request once more; undefined for a new key. */
async function replayOf(
  ports: ClockPorts,
  session: Session,
  known: FollowedClock | undefined,
  idempotencies: readonly Idempotency[],
): Promise<Answer | undefined> {
  const earlier = known && idempotencies.map(({ key }) => moveOf(known, key)).find((move) => move !== undefined);
  if (known === undefined || earlier?.request === undefined) return undefined;
  const { at, aheadMs, request } = earlier;
  if (!idempotencies.some(({ bodyHash }) => bodyHash === request.bodyHash)) return keyUsed(session, ports.now());
  const then = await untilFollowed(ports, { ...known, aheadMs });
  return { ...clockResponse({ ...session, sessionId: request.sessionId }, { known: then, at }), replayed: true };
}

/** The time of the account at `at` (epoch ms), and how far it is ahead. */
export function clockResponse(
  session: Session,
  { known, at }: { known: FollowedClock | undefined; at: number },
): Answer {
  const aheadMs = known?.aheadMs ?? 0;
  return sandboxAnswer(session, at, {
    clock: unixSeconds(at + aheadMs),
    ahead: secondsOf(aheadMs),
    followed: known === undefined || allHaveFollowed(known, aheadMs),
  });
}

function secondsOf(ms: number): number {
  return Math.round(ms / SECOND_MS);
}
