import { parsePageQuery } from './query-api';

const query = { account: 'merchant_1', from: '10', to: '20' };

it('the default page is the first, of the maximum length, oldest first', () => {
  expect(parsePageQuery(query)).toEqual({
    merchantAccount: 'merchant_1',
    from: 10,
    to: 20,
    order: 'asc',
    page: 1,
    limit: 1000,
  });
  expect(parsePageQuery({ ...query, order: 'desc', page: '3', limit: '7' })).toMatchObject({
    order: 'desc',
    page: 3,
    limit: 7,
  });
});

it.each([
  [{ account: undefined }],
  [{ account: ['a', 'b'] }],
  [{ from: undefined }],
  [{ from: '-1' }],
  [{ from: '1.5' }],
  [{ to: 'now' }],
  [{ order: 'acs' }],
  [{ page: '0' }],
  [{ page: '9007199254741' }],
  [{ limit: '0' }],
  [{ limit: '1001' }],
  [{ limit: { $gt: '' } }],
])('refuses %j', (wrong) => {
  expect(parsePageQuery({ ...query, ...wrong })).toBeUndefined();
});
