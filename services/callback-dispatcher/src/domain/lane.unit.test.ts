import { BEFORE_LANES, laneOf, lanesOf, merchantOf } from './lane';

const ORIGINS = ['https://a.example', 'https://zzz.example:8443', 'https://[::1]:8443'];
const MERCHANTS = [
  'Merchant',
  'merchan',
  'merchant',
  'merchant-1',
  'merchant.1',
  'merchant1',
  'merchant@1',
  'merchant_',
];

test('a lane names its merchant', () => {
  expect(merchantOf(laneOf('merchant-1', 'https://a.example'))).toBe('merchant-1');
});

test.each(MERCHANTS)('the lanes of %s are within its bounds, and no others are', (merchant) => {
  const { after, end } = lanesOf(merchant);
  for (const other of MERCHANTS) {
    for (const lane of ORIGINS.map((origin) => laneOf(other, origin))) {
      expect(lane > BEFORE_LANES).toBe(true);
      expect(lane > after && lane < end).toBe(other === merchant);
    }
  }
});
