import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { formsOf, get, submit } from './form-client';
import type { Body } from './system';
import { cardRequest } from './system';

/**
 * A SALE with the proof of an AUTH3D, which is authenticated without a challenge.
 *
 * @param more fields of both, e.g. credentials
 */
export async function proofOf(send: (fields: Body) => Promise<Body>, termUrl: string, more: Body = {}): Promise<Body> {
  const card = { card_number: TEST_CARDS.frictionless.visa, ...more };
  const first = await send(cardRequest('AUTH3D', card));
  const form = { PaReq: String(first['pareq']), TermUrl: termUrl, MD: String(first['reference']) };
  const page = await submit(String(first['acs_url']), form);
  const pares = await until('the PaRes', async () => {
    const [found] = formsOf(page.status === 303 ? await get(page.location ?? '') : page);
    return found?.fields['PaRes'];
  });
  return cardRequest('SALE', { ...card, pares, reference: first['reference'] });
}
