import { ConfigurationError } from '@gateway/service-kit';
import { DEBTORS, OTHER_IBAN, OUR_IBAN, testSettings } from './iso20022.fixture';
import { loadSettings } from './settings';

describe('settings', () => {
  it('know the debtor of every merchant account', () => {
    const settings = loadSettings(testSettings());
    expect(settings.debtorOf('merchant_at')).toEqual({ name: 'Gateway Austria', iban: OTHER_IBAN });
    expect(settings.debtorOf('anyone')).toEqual({ name: 'Gateway Ltd', iban: OUR_IBAN, bic: 'COBADEFFXXX' });
    expect(settings).toMatchObject({ cutOffs: { everyMinutes: 60 }, payoutsPerFile: 10_000 });
  });

  const [ours, other] = DEBTORS;
  it.each<[string, Record<string, string>, unknown, RegExp]>([
    ['no directory', { ISO20022_OUTBOX_DIR: '' }, DEBTORS, /ISO20022_OUTBOX_DIR/],
    ['a cut-off that is none', { ISO20022_CUT_OFF: '25:00' }, DEBTORS, /ISO20022_CUT_OFF/],
    ['a party in letters that SEPA has not', { ISO20022_INITIATING_PARTY: 'Müller' }, DEBTORS, /characters of SEPA/],
    ['more payouts in a file than can be', { ISO20022_FILE_PAYOUTS: '10001' }, DEBTORS, /ISO20022_FILE_PAYOUTS/],
    ['no file of debtors', { ISO20022_DEBTORS: '/nowhere/debtors.json' }, DEBTORS, /nowhere/],
    ['no debtor', {}, [], /debtors.json/],
    ['a field that is misspelt', {}, [{ ...ours, merchantAccount: ['a'] }], /merchantAccount/],
    ['no default', {}, [other], /exactly one/],
    ['two defaults', {}, [ours, { name: 'X', iban: OTHER_IBAN }], /exactly one/],
    ['wrong check digits', {}, [{ ...ours, iban: 'DE88370400440532013000' }], /check digits/],
    ['a wrong BIC', {}, [{ ...ours, bic: 'X' }], /bic/],
    ['a name in letters that SEPA has not', {}, [{ ...ours, name: 'Gäteway' }], /characters of SEPA/],
    ['an IBAN twice', {}, [ours, { ...other, iban: OUR_IBAN }], /IBAN comes twice/],
    ['an account twice', {}, [ours, { ...other, merchantAccounts: ['a', 'a'] }], /account comes twice/],
    ['a file of debtors that is no JSON', { ISO20022_DEBTORS: __filename }, DEBTORS, /settings\.unit.*JSON/],
    [
      'several things wrong, all of them told,',
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
