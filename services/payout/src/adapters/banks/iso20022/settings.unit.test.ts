import { ConfigurationError } from '@gateway/service-kit';
import { DEBTORS, OTHER_IBAN, OUR_IBAN, testSettings } from './iso20022.fixture';
import { loadSettings } from './settings';

describe('settings', () => {
  it('know the debtors by their IBANs, and no default', () => {
    const settings = loadSettings(testSettings());
    expect(settings.debtorOf(OTHER_IBAN)).toEqual({ name: 'Gateway Austria', iban: OTHER_IBAN });
    expect(settings.debtorOf(OUR_IBAN)).toEqual({ name: 'Gateway Ltd', iban: OUR_IBAN, bic: 'COBADEFFXXX' });
    expect(settings.debtorOf('')).toBeUndefined();
    expect(settings).toMatchObject({ cutOffs: { everyMinutes: 60 }, payoutsPerFile: 10_000 });
  });

  const [ours, other] = DEBTORS;
  it.each<[string, Record<string, string>, unknown, RegExp]>([
    ['no directory', { ISO20022_OUTBOX_DIR: '' }, DEBTORS, /ISO20022_OUTBOX_DIR/],
    ['an invalid cut-off', { ISO20022_CUT_OFF: '25:00' }, DEBTORS, /ISO20022_CUT_OFF/],
    ['a party in letters outside SEPA', { ISO20022_INITIATING_PARTY: 'Müller' }, DEBTORS, /characters of SEPA/],
    ['too many payouts in a file', { ISO20022_FILE_PAYOUTS: '10001' }, DEBTORS, /ISO20022_FILE_PAYOUTS/],
    ['no file of debtors', { ISO20022_DEBTORS: '/nowhere/debtors.json' }, DEBTORS, /nowhere/],
    ['no debtor', {}, [], /debtors.json/],
    [
      'merchant accounts, which name their debtors themselves,',
      {},
      [{ ...ours, merchantAccounts: ['a'] }],
      /merchantAccounts/,
    ],
    ['wrong check digits', {}, [{ ...ours, iban: 'DE88370400440532013000' }], /check digits/],
    ['a wrong BIC', {}, [{ ...ours, bic: 'X' }], /bic/],
    ['a name in letters outside SEPA', {}, [{ ...ours, name: 'Gäteway' }], /characters of SEPA/],
    ['an IBAN twice', {}, [ours, { ...other, iban: OUR_IBAN }], /IBAN comes twice/],
    ['a file of debtors that is not JSON', { ISO20022_DEBTORS: __filename }, DEBTORS, /settings\.unit.*JSON/],
    [
      'several problems, all of them reported,',
      { ISO20022_DEBTORS: '/nowhere/debtors.json', ISO20022_CUT_OFF: 'never', ISO20022_INITIATING_PARTY: 'Müller' },
      DEBTORS,
      /nowhere.*ISO20022_CUT_OFF.*ISO20022_INITIATING_PARTY/,
    ],
  ])('with %s are refused', (_what, change, debtors, problem) => {
    const load = () => loadSettings(testSettings(change, debtors));
    expect(load).toThrow(ConfigurationError);
    expect(load).toThrow(problem);
  });
});
