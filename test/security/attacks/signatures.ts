import { createHmac } from 'node:crypto';
import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Received } from '../../support/form-client';
import { formsOf, get, press, submit } from '../../support/form-client';
import { FORM_TYPE, formOf, JSON_TYPE } from '../../support/http';
import type { Body } from '../../support/system';
import { cardRequest, checkOf, recordsOf } from '../../support/system';
import type { World } from '../world';

const { challenged, frictionless } = TEST_CARDS;

interface TransactionIds {
  threeDSServerTransId: string;
  dsTransId: string;
  acsTransId: string;
}

/** Forged and replayed messages of those who sign or prove: directory server, issuer's page, merchants with a `pares`. */
export function attackSignatures(world: () => World): void {
  const urls = () => ({
    callback_url: `${world().merchant.url}/callback`,
    redirect_url: `${world().merchant.url}/back`,
  });

  async function statusOf(reference: unknown): Promise<string | undefined> {
    return recordsOf(await world().send(checkOf({ reference })))[0]?.status;
  }

  describe('result messages of the directory server', () => {
    const idsOf = async (reference: unknown): Promise<TransactionIds> => {
      const authentications = world().storage.collection('threeds', 'authentications');
      const found = await authentications.findOne({ reference: String(reference) });
      if (found === null) throw new Error(`no authentication of ${String(reference)}`);
      return found['ids'] as TransactionIds;
    };
    const messageOf = (ids: TransactionIds, transStatus: string): string =>
      JSON.stringify({
        messageType: 'RReq',
        messageVersion: '2.2.0',
        threeDSServerTransID: ids.threeDSServerTransId,
        dsTransID: ids.dsTransId,
        acsTransID: ids.acsTransId,
        transStatus,
        ...(transStatus === 'Y' ? { eci: '05', authenticationValue: `${'A'.repeat(27)}=` } : {}),
      });
    const hmac = (key: Buffer, text: string): string => createHmac('sha256', key).update(text).digest('hex');
    const realKey = (): Buffer => Buffer.from(world().env['DS_MESSAGE_KEY'] ?? '', 'base64');
    const deliver = (body: string, signature?: string) =>
      world().exchange(world().ports.THREEDS_PORT, {
        path: '/3ds/results',
        body,
        headers: { ...JSON_TYPE, ...(signature === undefined ? {} : { 'x-ds-signature': signature }) },
      });
    const startChallenge = async (): Promise<unknown> => {
      const answer = await world().send(cardRequest('SALE3D', { card_number: challenged.visa, ...urls() }));
      expect(answer).toMatchObject({ code: 0, acs_url: expect.any(String) as string });
      return answer['reference'];
    };

    test('that are forged change nothing', async () => {
      const reference = await startChallenge();
      const ids = await idsOf(reference);
      const wanted = messageOf(ids, 'Y');
      const right = hmac(realKey(), wanted);
      const forged: [string, string | undefined][] = [
        [wanted, undefined],
        [wanted, ''],
        [wanted, 'sha256='],
        [wanted, right],
        [wanted, `sha256=${right.toUpperCase()}`],
        [wanted, `sha1=${right}`],
        [wanted, `sha256=${right}00`],
        [wanted, `sha256=${right.slice(0, -1)}`],
        [wanted, `sha256=${hmac(Buffer.alloc(32), wanted)}`],
        [wanted, `sha256=${hmac(Buffer.alloc(0), wanted)}`],
        [wanted, `sha256=${hmac(realKey(), messageOf(ids, 'N'))}`],
        [`${wanted} `, `sha256=${right}`],
        [wanted.replace('"Y"', '"A"'), `sha256=${right}`],
      ];
      for (const [body, signature] of forged) {
        expect([signature, (await deliver(body, signature)).status]).toEqual([signature, 401]);
      }
      expect(await statusOf(reference)).toBe('PENDING');
      expect(await world().ledger(reference)).toEqual([]);
    });

    test('that name another transaction change neither', async () => {
      const [one, other] = [await startChallenge(), await startChallenge()];
      const [mine, theirs] = [await idsOf(one), await idsOf(other)];
      for (const mixed of [
        { ...mine, dsTransId: theirs.dsTransId },
        { ...mine, acsTransId: theirs.acsTransId },
        { ...theirs, threeDSServerTransId: mine.threeDSServerTransId },
      ]) {
        const body = messageOf(mixed, 'Y');
        expect((await deliver(body, `sha256=${hmac(realKey(), body)}`)).status).toBe(404);
      }
      expect([await statusOf(one), await statusOf(other)]).toEqual(['PENDING', 'PENDING']);
    });

    test('that are sent again, or contradict the first, change nothing', async () => {
      const reference = await startChallenge();
      const ids = await idsOf(reference);
      const signed = async (transStatus: string): Promise<number> => {
        const body = messageOf(ids, transStatus);
        return (await deliver(body, `sha256=${hmac(realKey(), body)}`)).status;
      };
      expect(await signed('N')).toBe(200);
      await until('the end', async () => (await statusOf(reference)) === 'DECLINE');
      expect(await signed('N')).toBe(200);
      expect(await signed('Y')).toBe(409);
      expect(await statusOf(reference)).toBe('DECLINE');
      expect(await world().ledger(reference)).toEqual([]);
    });
  });

  describe('pares', () => {
    interface Proven {
      request: Body;
      reference: unknown;
      pares: string;
    }

    /** A frictionless AUTH3D and the PaRes that its page hands out. */
    async function prove(more: Body = {}): Promise<Proven> {
      const request = cardRequest('AUTH3D', { card_number: frictionless.visa, ...more });
      const answer = await world().send(request);
      const fields = {
        PaReq: String(answer['pareq']),
        TermUrl: `${world().merchant.url}/term`,
        MD: String(answer['reference']),
      };
      const [form] = formsOf(await submit(String(answer['acs_url']), fields));
      expect(form?.fields['MD']).toBe(answer['reference']);
      return { request, reference: answer['reference'], pares: form?.fields['PaRes'] ?? '' };
    }
    const saleWith = (pares: string, reference: unknown, more: Body = {}): Body =>
      cardRequest('SALE', { card_number: frictionless.visa, pares, reference, ...more });

    test('that are forged, altered or of another operation prove nothing', async () => {
      const { reference, pares } = await prove();
      const other = await prove();
      const flipped = (pares.startsWith('A') ? 'B' : 'A') + pares.slice(1);
      const wrong = [flipped, other.pares, pares.slice(0, -1), `${pares}A`, pares.toLowerCase(), 'A', 'A'.repeat(4096)];
      for (const forged of wrong) {
        expect(await world().send(saleWith(forged, reference))).toMatchObject({ status: 'decline', code: 3103 });
      }
      expect(await world().send(saleWith(pares, other.reference))).toMatchObject({ code: 3103 });
      const stranger = { merchant_account: 'demo_custom' };
      expect(await world().send(saleWith(pares, reference, stranger))).toMatchObject({ code: 3003 });
      expect(await world().send(saleWith(pares, reference, { amount: '10.01' }))).toMatchObject({ code: 3022 });
      const otherCard = { card_number: frictionless.mastercard };
      expect(await world().send(saleWith(pares, reference, otherCard))).toMatchObject({ code: 3002 });
      expect(await world().send(saleWith(pares, reference))).toMatchObject({ status: 'success', code: 0 });
    });

    test('pay once, however often and at the same time they are sent', async () => {
      const { reference, pares } = await prove();
      const answers = await Promise.all(Array.from({ length: 8 }, () => world().send(saleWith(pares, reference))));
      const codes = answers.map(({ code }) => code).sort((a, b) => Number(a) - Number(b));
      expect(codes).toEqual([0, ...Array.from({ length: 7 }, () => 3025)]);
      const sold = await Promise.all(answers.map(({ reference: own }) => world().ledger(own)));
      expect(sold.flat().filter(({ effect }) => effect === 'sold')).toHaveLength(1);
    });
  });

  describe('pages of a challenge', () => {
    const TERM_URLS = [
      'https://evil.example/',
      'https://localhost.evil.example/',
      'https://evil.example/?localhost',
      'https://localhost@evil.example/',
      'https://localhost:443@evil.example/',
      'https://evil.example\\@localhost/',
      'https://evil.example#@localhost/',
      '//evil.example/',
      'https:evil.example',
      'http://localhost/',
      'javascript:alert(1)//localhost',
      'data:text/html,localhost',
      'https://local\thost/',
      'https://localhost\r\nSet-Cookie: a=b/',
      'https://localhost;form-action *;/',
    ];

    test('lead to no address that the merchant has not named', async () => {
      const answer = await world().send(cardRequest('AUTH3D', { card_number: frictionless.visa }));
      for (const TermUrl of TERM_URLS) {
        const fields = { PaReq: String(answer['pareq']), TermUrl, MD: String(answer['reference']) };
        const page = await submit(String(answer['acs_url']), fields);
        expect([TermUrl, page.status, page.location, formsOf(page)]).toEqual([TermUrl, 400, undefined, []]);
        expect(page.body).not.toContain('evil.example');
      }
    });

    test('open only with the PaReq of their operation', async () => {
      const [mine, theirs] = await Promise.all(
        [1, 2].map(() => world().send(cardRequest('AUTH3D', { card_number: frictionless.visa }))),
      );
      const TermUrl = `${world().merchant.url}/term`;
      for (const fields of [
        { PaReq: String(theirs?.['pareq']), TermUrl, MD: String(mine?.['reference']) },
        { PaReq: String(theirs?.['pareq']), TermUrl, MD: String(theirs?.['reference']) },
        { PaReq: '', TermUrl, MD: String(mine?.['reference']) },
        { PaReq: 'A'.repeat(43), TermUrl, MD: String(mine?.['reference']) },
      ]) {
        expect((await submit(String(mine?.['acs_url']), fields)).status).toBe(400);
      }
    });

    test('take no end of a challenge from the browser', async () => {
      const first = await world().send(cardRequest('SALE3D', { card_number: challenged.visa, ...urls() }));
      const issuer: Received = await press(await get(String(first['acs_url'])));
      const decisions = formsOf(issuer).map(({ fields }) => fields['cres'] ?? '');
      expect(decisions.length).toBeGreaterThan(1);
      const pageId = new URL(String(first['acs_url'])).pathname.split('/').pop() ?? '';
      for (const cres of decisions) {
        const answer = await world().exchange(world().ports.THREEDS_PORT, {
          path: '/challenge/notification',
          headers: FORM_TYPE,
          body: formOf({ cres, threeDSSessionData: pageId }),
        });
        expect(answer.status).toBe(303);
        expect(await statusOf(first['reference'])).toBe('PENDING');
      }
      expect(await world().ledger(first['reference'])).toEqual([]);
    });
  });
}
