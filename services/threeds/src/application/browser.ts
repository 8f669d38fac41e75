import { returnAddress } from '@gateway/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Authentication, CardFacts } from '../domain/authentication';
import { hasEnded, isExpired } from '../domain/authentication';
import { allowedReturnUrl } from '../domain/web-address';
import type { Ports, StoredAuthentication } from './ports';

/** From the deadline of the merchant's request: how long a page leads on to the merchant. A `pares` lives as long. */
export const PAGE_KNOWN_MS = 24 * 3_600_000;

/** The reason why a browser is not sent on. */
export type Problem =
  | 'unknown-page'
  /** The page of an AUTH3D opens by the form of the merchant's page, not by its address. */
  | 'form-needed'
  | 'wrong-form'
  | 'wrong-return-address'
  /** The challenge page sent ids of different authentications. */
  | 'wrong-challenge'
  /** The authentication has ended without a return address. */
  | 'no-return';

/** The next step of a browser. It depends on the stored state, never on the browser's input. */
export type Turn =
  | { kind: 'challenge'; authentication: Authentication; acsUrl: string; card: CardFacts }
  | { kind: 'wait'; authentication: Authentication }
  | { kind: 'out-of-time'; authentication: Authentication }
  /** SALE3D: to `redirect_url`. */
  | { kind: 'redirect'; url: string }
  /** AUTH3D: a form to `TermUrl`. */
  | { kind: 'return'; authentication: Authentication; url: string; pares: string }
  | { kind: 'problem'; problem: Problem };

/** The form of the merchant's page. */
export interface OpeningForm {
  pareq: string | undefined;
  termUrl: string | undefined;
  /** The reference of the AUTH3D. */
  md: string | undefined;
}

/** `acs_url`, opened by address or by a form. */
export async function openPage(ports: Ports, pageId: string, form?: OpeningForm): Promise<Turn> {
  const authentication = await findShown(ports, pageId);
  if (authentication === undefined) return problem('unknown-page');
  if (authentication.transactionType === 'SALE3D') return turnOf(ports, authentication);
  if (form === undefined) return problem('form-needed');
  const { reference, merchantAccount, redirectUrl } = authentication;
  if (form.md !== reference || !ports.proofs.isPareq(authentication, form.pareq ?? '')) return problem('wrong-form');
  const account = await ports.accounts.find(merchantAccount);
  const rules = { redirectUrl, returnHosts: account?.returnHosts ?? [] };
  const returnUrl = allowedReturnUrl(form.termUrl ?? '', rules);
  if (returnUrl === undefined) return problem('wrong-return-address');
  return onceTold(ports, turnOf(ports, await keepReturnUrl(ports, authentication, returnUrl)));
}

/** What a browser brings back from the challenge page: names of the challenge, each optional. */
export interface Brought {
  /** The session data, as we sent it. */
  pageId?: string | undefined;
  threeDSServerTransId?: string | undefined;
  acsTransId?: string | undefined;
}

/**
 * The browser returns from the challenge page. Its input is untrusted and only identifies the authentication: by the
 * page, or by both ids of the transaction where the ACS sends no session data back. Each is a secret of this challenge.
 */
export async function comeBack(ports: Ports, brought: Brought): Promise<Turn> {
  const authentication = (await broughtPage(ports, brought)) ?? (await broughtTransaction(ports, brought));
  if (authentication === undefined || contradicts(authentication, brought)) return problem('wrong-challenge');
  return onceTold(ports, afterChallenge(ports, authentication));
}

async function broughtPage(ports: Ports, { pageId }: Brought): Promise<StoredAuthentication | undefined> {
  return pageId === undefined ? undefined : findShown(ports, pageId);
}

async function broughtTransaction(ports: Ports, brought: Brought): Promise<StoredAuthentication | undefined> {
  const { threeDSServerTransId, acsTransId } = brought;
  if (threeDSServerTransId === undefined || acsTransId === undefined) return undefined;
  return shown(ports, await ports.authentications.findByTransaction(threeDSServerTransId));
}

/** What the ACS did not send, or nobody can read, contradicts nothing. */
function contradicts({ ids }: Authentication, { threeDSServerTransId, acsTransId }: Brought): boolean {
  return (
    ids.threeDSServerTransId !== (threeDSServerTransId ?? ids.threeDSServerTransId) ||
    ids.acsTransId !== (acsTransId ?? ids.acsTransId)
  );
}

/** The page that waits for the result message. */
export async function lookForResult(ports: Ports, pageId: string): Promise<Turn> {
  return onceTold(ports, afterChallenge(ports, await findShown(ports, pageId)));
}

const LOOK_EVERY_MS = 20;
const LOOKS_MAX = 50;

/**
 * Holds back a proof until its outcome is published, because card-processing answers an unknown proof with 3003. After
 * a second the proof is handed out anyway.
 */
async function onceTold(ports: Ports, turn: Turn): Promise<Turn> {
  if (turn.kind !== 'return') return turn;
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const stored = await ports.authentications.load(turn.authentication.reference);
    if (stored === null || stored.outbox.length === 0) break;
    await pause(LOOK_EVERY_MS);
  }
  return turn;
}

function afterChallenge(ports: Ports, authentication: StoredAuthentication | undefined): Turn {
  if (authentication === undefined) return problem('unknown-page');
  const turn = turnOf(ports, authentication);
  return turn.kind === 'challenge' ? { kind: 'wait', authentication } : turn;
}

async function findShown(ports: Ports, pageId: string): Promise<StoredAuthentication | undefined> {
  return shown(ports, await ports.authentications.findByPage(pageId));
}

/**
 * The address of a page is published with the first answer, so until then the page is unknown. So it is after a day: no
 * cardholder comes back then, and an address of ours that leads elsewhere would serve others.
 */
function shown({ now }: Ports, found: StoredAuthentication | null): StoredAuthentication | undefined {
  if (found === null || found.state.kind === 'requested') return undefined;
  return now() < found.deadline + PAGE_KNOWN_MS ? found : undefined;
}

function turnOf(ports: Ports, authentication: Authentication): Turn {
  const { state } = authentication;
  if (hasEnded(authentication)) return endOf(ports, authentication);
  if (state.kind !== 'challenge') return problem('unknown-page');
  if (isExpired(authentication, ports.now())) return { kind: 'out-of-time', authentication };
  return { kind: 'challenge', authentication, acsUrl: state.acsUrl, card: state.card };
}

function endOf(ports: Ports, authentication: Authentication): Turn {
  const { transactionType, reference, transactionUniqueId, redirectUrl, returnUrl } = authentication;
  if (transactionType === 'SALE3D') {
    if (redirectUrl === undefined) return problem('no-return');
    return { kind: 'redirect', url: returnAddress(redirectUrl, { reference, transactionUniqueId }) };
  }
  if (returnUrl === undefined) return problem('no-return');
  return { kind: 'return', authentication, url: returnUrl, pares: ports.proofs.pares(authentication) };
}

/** The latest allowed address counts: a merchant's page may open the challenge more than once. */
async function keepReturnUrl(ports: Ports, read: StoredAuthentication, url: string): Promise<StoredAuthentication> {
  const { stored } = await ports.handle(read.reference, (current) =>
    current === null || current.returnUrl === url ? [] : [{ type: 'ReturnUrlChosen', url }],
  );
  return stored ?? read;
}

function problem(problem: Problem): Turn {
  return { kind: 'problem', problem };
}
