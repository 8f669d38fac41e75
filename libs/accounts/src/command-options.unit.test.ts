import { CUSTOM_PARAMETERS, TRANSACTION_TYPES } from '@gateway/contracts';
import { DEFAULT_CARD_RULES } from './card-rules';
import {
  cardRulesOf,
  changesOf,
  formatFee,
  newSettingsOf,
  payoutRulesOf,
  readArguments,
  settingsOf,
  terminalsOf,
  UsageError,
} from './command-options';

const set = (...args: string[]) => readArguments(['acme_shop', ...args], 'set').values;

describe('settings', () => {
  it.each([
    [['--display-name', 'Acme & Söhne'], { displayName: 'Acme & Söhne' }],
    [['--display-name', 'none'], { displayName: undefined }],
    [['--types', 'SALE, AUTH'], { transactionTypes: ['AUTH', 'SALE'] }],
    [['--types', 'all'], { transactionTypes: TRANSACTION_TYPES }],
    [['--types', 'none'], { transactionTypes: [] }],
    [['--custom', 'all'], { customParameters: CUSTOM_PARAMETERS }],
    [['--custom', 'secure_storage_id,custom_mid_id'], { customParameters: ['custom_mid_id', 'secure_storage_id'] }],
    [
      ['--limit', 'EUR:1.00-500.00', '--limit', 'JPY:0-9999999.9999'],
      {
        limits: [
          { currency: 'EUR', minE4: 10_000, maxE4: 5_000_000 },
          { currency: 'JPY', minE4: 0, maxE4: 99_999_999_999 },
        ],
      },
    ],
    [['--limit', 'none'], { limits: [] }],
    [['--allow-ip', '10.1.2.3/8', '--allow-ip', '2001:DB8::1'], { ipAllowlist: ['10.0.0.0/8', '2001:db8::1'] }],
    [['--allow-ip', 'none'], { ipAllowlist: [] }],
    [['--return-host', 'shop.example'], { returnHosts: ['shop.example'] }],
    [['--rate-limit', '25'], { rateLimitPerSecond: 25 }],
    [['--concurrency', '8'], { maxConcurrentRequests: 8 }],
    [['--payout-fee', '0.50+1%'], { payoutFee: { fixedE4: 5_000, percentE4: 10_000 } }],
    [['--payout-fee', '0.5'], { payoutFee: { fixedE4: 5_000, percentE4: 0 } }],
    [['--payout-fee', '0.0125%'], { payoutFee: { fixedE4: 0, percentE4: 125 } }],
    [['--payout-fee', 'none'], { payoutFee: { fixedE4: 0, percentE4: 0 } }],
    [['--payout-instant', 'yes'], { payoutInstant: true }],
    [['--payout-instant', 'no'], { payoutInstant: false }],
    [['--payout-debtor', 'de89 3704'], { payoutDebtor: 'de89 3704' }],
    [[], {}],
  ])('of %j', (args, settings) => {
    expect(settingsOf(set(...args))).toEqual(settings);
  });

  it.each([
    [['--types', 'SALE,FOO'], '--types does not know "FOO".'],
    [['--types', ''], '--types does not know "".'],
    [['--types', 'SALE, PAYOUT'], '"set ACCOUNT --payouts on" turns payouts on.'],
    [['--payouts', 'yes'], '--payouts is on or off, not "yes".'],
    [['--custom', 'custom_card_number'], '--custom does not know "custom_card_number".'],
    [['--limit', 'EUR'], '--limit EUR is not of the form'],
    [['--limit', 'EUR:1-2-3'], 'is not of the form'],
    [['--limit', 'EUX:1-2'], 'is not of the form'],
    [['--limit', 'EUR:-1-2'], 'is not of the form'],
    [['--limit', 'EUR:1.00001-2'], 'is not of the form'],
    [['--allow-ip', '10.1'], '--allow-ip 10.1 is not an IP address or CIDR.'],
    [['--rate-limit', '1.5'], 'is not a whole number'],
    [['--rate-limit', '0'], 'is not a whole number'],
    [['--concurrency', '0'], 'is not a whole number'],
    [['--card-hash-beside-digits', 'yes'], '--card-hash-beside-digits is on or off, not "yes".'],
    [['--card-numbers', '500'], '--card-numbers 500 is neither of the form 500:20000'],
    [['--card-numbers', '0:5'], 'is neither of the form'],
    [['--payout-fee', '1%+1'], 'is not of the form'],
    [['--payout-fee', '+1%'], 'is not of the form'],
    [['--payout-fee', '1.2.3'], 'is not of the form'],
    [['--payout-instant', 'maybe'], '--payout-instant is yes or no, not "maybe".'],
    [['--payout-daily-amount', 'EUR'], '--payout-daily-amount EUR is not of the form EUR:500.00.'],
    [['--payout-daily-amount', 'EUX:5'], 'is not of the form'],
    [['--payout-daily-amount', 'EUR:-5'], 'is not of the form'],
    [['--payout-daily-amount', 'EUR:5,none'], '--payout-daily-amount none is not of the form'],
    [['--payout-first-receiver', '500'], '--payout-first-receiver 500 is not of the form'],
    [['--payout-daily-count', '0'], '--payout-daily-count 0 is not a whole number'],
    [['--card-declines', 'ip:20'], '--card-declines ip:20 is not of the form ip:20/1h'],
    [['--card-declines', 'phone:20/1h'], 'is not of the form'],
    [['--card-declines', 'ip:0/1h'], 'is not of the form'],
    [['--card-declines', 'ip:20/1w'], 'is not of the form'],
    [['--card-declines', 'ip:20/1h,none'], '--card-declines none is not of the form'],
    [['--test-card-attempts', 'default'], '--test-card-attempts default is not of the form'],
    [['--terminal', 'EURO'], '--terminal EURO is not of the form'],
    [['--terminal', 'EUR:a:1:late'], 'is not of the form'],
    [['--terminal', 'EUR:a:1:late-void:x'], 'is not of the form'],
    [['--terminal', 'EUR:a:-1'], 'is not a whole number'],
    [[], 'at least one option'],
  ])('refuse %j', (args, problem) => {
    expect(() => changesOf(set(...args))).toThrow(problem);
    expect(() => changesOf(set(...args))).toThrow(UsageError);
  });
});

describe('payout rules', () => {
  it.each([
    [
      ['--payout-daily-amount', 'EUR:10000,XTS:0.0001', '--payout-daily-amount', 'USD:0'],
      {
        'daily-amount': [
          { kind: 'daily-amount', currency: 'EUR', maxE4: 100_000_000 },
          { kind: 'daily-amount', currency: 'XTS', maxE4: 1 },
          { kind: 'daily-amount', currency: 'USD', maxE4: 0 },
        ],
      },
    ],
    [['--payout-daily-count', '7'], { 'daily-count': [{ kind: 'daily-count', max: 7 }] }],
    [
      ['--payout-first-receiver', 'EUR:500.00'],
      { 'first-time-receiver': [{ kind: 'first-time-receiver', currency: 'EUR', maxE4: 5_000_000 }] },
    ],
    [
      ['--payout-blocked-countries', 'RS, AL', '--payout-blocked-countries', 'MK'],
      { 'blocked-countries': [{ kind: 'blocked-countries', countries: ['RS', 'AL', 'MK'] }] },
    ],
    [
      ['--payout-blocked-ibans', 'LV80BANK0000435195001'],
      { 'blocked-ibans': [{ kind: 'blocked-ibans', ibans: ['LV80BANK0000435195001'] }] },
    ],
    [['--payout-daily-amount', 'none'], { 'daily-amount': [] }],
    [['--payout-daily-count', 'none'], { 'daily-count': [] }],
    [['--payout-first-receiver', 'none'], { 'first-time-receiver': [] }],
    [['--payout-blocked-countries', 'none'], { 'blocked-countries': [] }],
    [['--payout-blocked-ibans', 'none'], { 'blocked-ibans': [] }],
    [[], {}],
  ])('of %j', (args, byKind) => {
    expect(payoutRulesOf(set(...args))).toEqual(byKind);
  });

  it('count as a change, even when they are removed', () => {
    const values = set('--payout-daily-count', 'none');
    expect(changesOf(values)).toEqual({ payoutRulesByKind: { 'daily-count': [] } });
    expect(newSettingsOf(values)).toEqual({});
  });

  it('do not turn payouts on', () => {
    expect(changesOf(set('--payouts', 'on', '--payout-daily-count', '7'))).toEqual({
      payouts: true,
      payoutRulesByKind: { 'daily-count': [{ kind: 'daily-count', max: 7 }] },
    });
    expect(changesOf(set('--payouts', 'off'))).toEqual({ payouts: false });
    expect(changesOf(set('--payout-daily-amount', 'EUR:5'))).not.toHaveProperty('payouts');
  });

  it('are one list in a new account', () => {
    const values = set('--payout-daily-count', '7', '--payout-blocked-countries', 'RS', '--rate-limit', '5');
    expect(newSettingsOf(values)).toEqual({
      rateLimitPerSecond: 5,
      payoutRules: [
        { kind: 'daily-count', max: 7 },
        { kind: 'blocked-countries', countries: ['RS'] },
      ],
    });
  });
});

describe('velocity rules for cards', () => {
  const byIp = { kind: 'declines', by: 'ip', max: 20, windowSeconds: 3_600 };

  it.each([
    [
      ['--card-declines', 'ip:20/1h, card:5/7d', '--card-declines', 'email:1/90s'],
      {
        cardRulesByKind: {
          declines: [
            byIp,
            { kind: 'declines', by: 'card', max: 5, windowSeconds: 604_800 },
            { kind: 'declines', by: 'email', max: 1, windowSeconds: 90 },
          ],
        },
      },
    ],
    [
      ['--card-attempts', 'bin:100/10m', '--test-card-declines', 'ip:20/1h'],
      {
        cardRulesByKind: { attempts: [{ kind: 'attempts', by: 'bin', max: 100, windowSeconds: 600 }] },
        testCardRulesByKind: { declines: [byIp] },
      },
    ],
    [['--card-declines', 'none'], { cardRulesByKind: { declines: [] } }],
    [['--card-declines', 'default'], { cardRulesByKind: { declines: 'default' } }],
    [['--test-card-attempts', 'none'], { testCardRulesByKind: { attempts: [] } }],
    [[], {}],
  ])('of %j', (args, changes) => {
    expect(cardRulesOf(set(...args))).toEqual(changes);
    if (args.length > 0) expect(changesOf(set(...args))).toEqual(changes);
  });

  it('of a new account keep the defaults of the kinds that no option names', () => {
    const attempts = { kind: 'attempts', by: 'account', max: 9, windowSeconds: 86_400 };
    expect(newSettingsOf(set('--card-attempts', 'account:9/1d'))).toEqual({
      cardRules: [...DEFAULT_CARD_RULES, attempts],
    });
    expect(newSettingsOf(set('--card-declines', 'none'))).toEqual({ cardRules: [] });
    expect(newSettingsOf(set('--test-card-declines', 'ip:20/1h'))).toEqual({ testCardRules: [byIp] });
  });
});

it('reads terminals', () => {
  const args = ['EUR', 'USD:north-bank', 'GBP::3600', 'EUR:north-bank:60:late-void'];
  expect(terminalsOf(set(...args.flatMap((one) => ['--terminal', one])))).toEqual([
    { currency: 'EUR', lateVoid: false },
    { currency: 'USD', acquirer: 'north-bank', lateVoid: false },
    { currency: 'GBP', holdSeconds: 3600, lateVoid: false },
    { currency: 'EUR', acquirer: 'north-bank', holdSeconds: 60, lateVoid: true },
  ]);
});

it.each([
  ['set', ['--frob', '1']],
  ['set', ['--rate-limit']],
  ['set', ['--ask-password']],
  ['create', ['--password', 'something']],
  ['create', ['--remove-terminal', 'MD0']],
  ['create', ['--payouts', 'on']],
  ['show', ['--types', 'all']],
])('has for %s no %j, and says so in one sentence', (command, args) => {
  let message = '';
  try {
    readArguments(args, command);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    message = (error as Error).message;
  }
  expect(message).toMatch(/^[^\n]+\.$/);
});

it('prints a fee as it was entered', () => {
  expect(formatFee({ fixedE4: 5_000, percentE4: 10_000 })).toBe('0.5+1%');
});
