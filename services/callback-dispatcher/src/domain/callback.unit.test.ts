import { createHash } from 'node:crypto';
import type { Outcome } from './callback';
import { callbackOf, withCustom, signedText } from './callback';

const outcome: Outcome = {
  kind: 'card',
  paymentId: '0123456789ABCDEF',
  reference: '0123456789ABCDEF0001',
  merchantAccount: 'merchant_1',
  transactionUniqueId: 'order-000001',
  status: 'success',
  code: 0,
  message: 'Transaction processed successfully',
  token: '11111111-2222-3333-4444-555555555555',
  callbackUrl: 'https://Shop.example:8443/done?secret=1',
};

describe('the fields of a callback', () => {
  it('come in the order of the interface, custom parameters last', () => {
    expect(withCustom(callbackOf(outcome), [['custom_bank_id', '7']]).fields).toEqual([
      ['token', '11111111-2222-3333-4444-555555555555'],
      ['reference', '0123456789ABCDEF0001'],
      ['transaction_unique_id', 'order-000001'],
      ['status', 'success'],
      ['code', '0'],
      ['message', 'Transaction processed successfully'],
      ['custom_bank_id', '7'],
    ]);
  });

  it('have no token if the operation has none', () => {
    const { token: _token, ...withoutToken } = outcome;
    expect(callbackOf(withoutToken).fields.map(([name]) => name)).not.toContain('token');
  });

  it('spell the status of a payout in upper case', () => {
    const fields = callbackOf({ ...outcome, kind: 'payout', status: 'frauded' }).fields;
    expect(fields).toContainEqual(['status', 'FRAUDED']);
  });

  it('keep the full address, and its origin for logs and events', () => {
    const callback = callbackOf(outcome);
    expect(callback.url).toBe('https://Shop.example:8443/done?secret=1');
    expect(callback.origin).toBe('https://shop.example:8443');
    expect(callback.lane).toBe(`${callback.merchantAccount} https://shop.example:8443`);
  });
});

describe('the signed text', () => {
  it('is sorted by key, with the values before URL encoding', () => {
    const text = signedText([
      ['token', 't'],
      ['status', 'success'],
      ['message', 'a & b=c|ü'],
      ['code', '0'],
    ]);
    expect(text).toBe('code=0|message=a & b=c|ü|status=success|token=t');
  });

  it('gives the checkSum that a merchant computes from the received fields', () => {
    const { fields } = withCustom(callbackOf(outcome), [['custom_bank_id', '7']]);
    const received = new Map(fields);
    const items = [...received.keys()].sort().map((key) => `${key}=${received.get(key)}`);
    const expected = createHash('sha256')
      .update([...items, 'secret'].join('|'))
      .digest('hex');
    expect(
      createHash('sha256')
        .update(`${signedText(fields)}|secret`)
        .digest('hex'),
    ).toBe(expected);
  });
});
