import { parsePageQuery } from './query-api';

const query = { account: 'merchant_1', from: '10', to: '20' };

it('a page is the first and the longest, oldest first, unless the query says otherwise', () => {
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
])('makes no sense: %j', (wrong) => {
  expect(parsePageQuery({ ...query, ...wrong })).toBeUndefined();
});
