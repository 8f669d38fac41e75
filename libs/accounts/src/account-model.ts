import type { Connection, HydratedDocument, Model } from 'mongoose';
import { Schema } from 'mongoose';
import { CUSTOM_PARAMETERS, hasRightCheckDigits, MAX_AMOUNT_E4, TEST_CURRENCY } from '@gateway/contracts';
import { canonicalRange } from '@gateway/service-kit';
import type { NumberLimits, Sealed } from '@gateway/vault';
import type { AccountSettings, AmountLimit, FormerSigning, Terminal } from './account';
import { ACCOUNT_TRANSACTION_TYPES } from './account';
import type { AccountRecord } from './account-record';
import { ACCOUNTS } from './account-record';
import { ACCOUNT_STATES } from './account-state';
import { SANDBOX_ACQUIRER } from './acquirers';
import { DISPLAY_NAME_RULE, isDisplayName } from './display-name';
import { atMost, currency, text, whole, withoutRepeats } from './field-types';
import { isStoredLogo, LOGO_RULE } from './logo';
import { cardRuleList } from './card-rule-model';
import type { StoredSecret } from './stored-secret';
import { declareKinds, payoutRuleList } from './payout-rule-model';

const MAX_TERMINALS = 200;
const MAX_LIST_LENGTH = 100;
const MAX_HOLD_SECONDS = 366 * 24 * 60 * 60;
/** As long as the longest hold. */
const MAX_HOLD_CALLBACK_HOURS = 366 * 24;
const MAX_RATE_PER_SECOND = 1_000_000;
const MAX_CONCURRENT_REQUESTS = 100_000;
const MAX_CARD_NUMBERS = 100_000_000;
const MAX_PERCENT_E4 = 100 * 10_000;
/** Characters that are safe wherever an account's name appears: ids, headers, log lines, command lines. */
const MERCHANT_ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9._@-]{5,31}$/;
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export type AccountModel = Model<AccountRecord>;
export type AccountDocument = HydratedDocument<AccountRecord>;

const sealed = new Schema<Sealed>({ keyId: text, data: { type: Buffer, required: true } }, { _id: false });
const storedSecret = new Schema<StoredSecret>(
  { keyId: text, writerKeyId: { type: String }, data: { type: Buffer, required: true } },
  { _id: false },
);

const terminal = new Schema<Terminal>(
  {
    midReference: { ...text, match: /^MD[0-9A-F]{14}$/ },
    midId: { ...text, match: /^\d{1,20}$/ },
    name: { ...text, maxLength: 64 },
    currency,
    acquirer: { ...text, match: [/^[a-z0-9-]{1,32}$/, '{VALUE} is not the name of an acquirer'] },
    active: { type: Boolean, required: true },
    holdSeconds: { ...whole(1, MAX_HOLD_SECONDS), required: false },
    lateVoid: { type: Boolean, required: true },
  },
  { _id: false },
);

const limit = new Schema<AmountLimit>(
  { currency, minE4: whole(0, MAX_AMOUNT_E4), maxE4: whole(0, MAX_AMOUNT_E4) },
  { _id: false },
);

const numberLimits = new Schema<NumberLimits>(
  { perBin: whole(1, MAX_CARD_NUMBERS), inAll: whole(1, MAX_CARD_NUMBERS) },
  { _id: false },
);

const fee = new Schema<AccountSettings['payoutFee']>(
  { fixedE4: whole(0, MAX_AMOUNT_E4), percentE4: whole(0, MAX_PERCENT_E4) },
  { _id: false },
);

const schema = new Schema<AccountRecord>(
  {
    _id: {
      ...text,
      match: [MERCHANT_ACCOUNT, '{VALUE} is not 6 to 32 letters, digits, ., _, @ or -, a letter or digit first'],
    },
    displayName: {
      type: String,
      validate: { validator: isDisplayName, message: `its display name is not ${DISPLAY_NAME_RULE}` },
    },
    logo: { type: String, validate: { validator: isStoredLogo, message: `its logo is not ${LOGO_RULE}` } },
    state: { ...text, enum: ACCOUNT_STATES },
    suspendedFrom: { type: String, enum: ['test', 'active'] },
    passwordHash: text,
    passwordVerifier: sealed,
    signingPassword: { type: storedSecret, required: true },
    payoutSecret: { type: storedSecret, required: true },
    formerSigning: new Schema<FormerSigning>(
      { password: { type: storedSecret, required: true }, until: whole(0, Number.MAX_SAFE_INTEGER) },
      { _id: false },
    ),
    transactionTypes: [
      { ...text, enum: { values: ACCOUNT_TRANSACTION_TYPES, message: '{VALUE} is not a transaction type' } },
    ],
    terminals: {
      type: [terminal],
      validate: [
        atMost(MAX_TERMINALS, `an account has at most ${MAX_TERMINALS} terminals`),
        withoutRepeats((one: Terminal) => one.midReference, 'two terminals have the same mid_reference'),
        {
          validator: (list: readonly Terminal[]) =>
            list.every((one) => one.currency !== TEST_CURRENCY || one.acquirer === SANDBOX_ACQUIRER),
          message: `${TEST_CURRENCY} never leaves the sandbox: its acquirer is ${SANDBOX_ACQUIRER}`,
        },
      ],
    },
    limits: {
      type: [limit],
      validate: [
        withoutRepeats((one: AmountLimit) => one.currency, 'a currency has more than one limit'),
        {
          validator: (list: readonly AmountLimit[]) => list.every((one) => one.minE4 <= one.maxE4),
          message: "a limit's lower bound is above its upper bound",
        },
      ],
    },
    ipAllowlist: {
      type: [
        {
          ...text,
          validate: {
            validator: (range: string) => canonicalRange(range) === range,
            message: '{VALUE} is not an IP address or CIDR in its canonical form',
          },
        },
      ],
      validate: atMost(MAX_LIST_LENGTH, `an account allows at most ${MAX_LIST_LENGTH} addresses`),
    },
    returnHosts: {
      type: [{ ...text, maxLength: 253, match: [HOST, '{VALUE} is not a host name'] }],
      validate: atMost(MAX_LIST_LENGTH, `an account has at most ${MAX_LIST_LENGTH} return hosts`),
    },
    rateLimitPerSecond: { ...whole(1, MAX_RATE_PER_SECOND), required: false },
    maxConcurrentRequests: { ...whole(1, MAX_CONCURRENT_REQUESTS), required: false },
    holdCallbackHours: { ...whole(1, MAX_HOLD_CALLBACK_HOURS), required: false },
    customParameters: [{ ...text, enum: { values: CUSTOM_PARAMETERS, message: '{VALUE} is not a custom parameter' } }],
    cardHashBesideDigits: { type: Boolean },
    cardNumbers: numberLimits,
    payoutFee: { type: fee, required: true },
    payoutInstant: { type: Boolean },
    payoutDebtor: {
      type: String,
      validate: { validator: hasRightCheckDigits, message: '{VALUE} is not an IBAN, or has wrong check digits' },
    },
    payoutRules: payoutRuleList,
    cardRules: cardRuleList,
    testCardRules: cardRuleList,
  },
  {
    strict: 'throw',
    versionKey: 'revision',
    optimisticConcurrency: true,
    minimize: false,
    // The server creates a collection with its first document; a service may not do more.
    autoCreate: false,
    autoIndex: false,
  },
);

declareKinds(schema.path<Schema.Types.DocumentArray>('payoutRules'));

export function accountModel(connection: Connection): AccountModel {
  return connection.model<AccountRecord>('Account', schema, ACCOUNTS);
}
