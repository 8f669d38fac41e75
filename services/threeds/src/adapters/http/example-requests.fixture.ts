import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Secret } from '@gateway/contracts';
import type { SourcePace } from '@gateway/service-kit';
import { createBodyReader, noTracer } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';
import { challengeFields } from '../emv/challenge';
import { createPublicSite, NOTIFICATION_PATH, RESULTS_PATH } from './public-site';

const KEY = Buffer.alloc(32);
const PAGE_ID = 'A'.repeat(32);
const TRANSACTION = '00000000-0000-4000-8000-000000000001';
const ACS_TRANSACTION = '00000000-0000-4000-8000-000000000002';

/** An AUTH3D that has ended, so that every form of it is read to its end. */
const ENDED = {
  reference: 'PAYMENT000000001AU3D',
  merchantAccount: 'merchant',
  transactionType: 'AUTH3D',
  amountE4: 500_000,
  currency: 'XTS',
  pageId: PAGE_ID,
  returnUrl: 'https://shop.example/term',
  redirectUrl: 'https://shop.example/term',
  ids: { threeDSServerTransId: TRANSACTION, dsTransId: TRANSACTION, acsTransId: ACS_TRANSACTION },
  deadline: 30_000,
  outbox: [],
  state: { kind: 'refused', challenged: true, code: 3103 },
};

const RREQ = {
  messageType: 'RReq',
  messageVersion: '2.2.0',
  threeDSServerTransID: TRANSACTION,
  dsTransID: TRANSACTION,
  acsTransID: ACS_TRANSACTION,
  messageCategory: '01',
  transStatus: 'Y',
  eci: '05',
  authenticationValue: `${'A'.repeat(27)}=`,
  challengeCancel: '01',
  interactionCounter: '01',
};

/** A CReq names the transaction as a CRes does. */
const { creq: cres, threeDSSessionData } = challengeFields(ENDED as unknown as Parameters<typeof challengeFields>[0]);

/** A request of each route whose texts are all accepted. */
export const EXAMPLE_REQUESTS = [
  {
    method: 'POST',
    path: RESULTS_PATH,
    json: RREQ,
    seal: (body: string) => ({ 'x-ds-signature': `sha256=${createHmac('sha256', KEY).update(body).digest('hex')}` }),
  },
  { method: 'POST', path: NOTIFICATION_PATH, form: { cres, threeDSSessionData } },
  { method: 'GET', path: `/challenge/${PAGE_ID}`, query: { stay: 'yes' } },
  {
    method: 'POST',
    path: `/challenge/${PAGE_ID}`,
    form: { PaReq: 'pareq', TermUrl: ENDED.returnUrl, MD: ENDED.reference },
  },
  { method: 'GET', path: `/challenge/${PAGE_ID}/result`, query: { stay: 'yes' } },
] as const;

/** The public site of an authentication that has ended. */
export function exampleListener(pace: SourcePace = { take: async () => true }): RequestListener {
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const logger = { ...silent, child: () => logger };
  const find = async () => ENDED;
  const ports = {
    authentications: { load: find, findByPage: find, findByTransaction: find },
    handle: async () => ({ stored: ENDED }),
    accounts: { find: async () => undefined },
    proofs: { isPareq: (_reference: string, given: string) => given === 'pareq', pares: () => 'pares' },
    now: () => 0,
    publicUrl: 'https://3ds.example',
    tracer: noTracer,
  } as unknown as Ports;
  return createPublicSite({
    ports,
    messageKeys: [new Secret(KEY)],
    bodies: createBodyReader(),
    pace,
    trustedProxies: ['127.0.0.1'],
    refuse: () => undefined,
    logger,
  });
}
