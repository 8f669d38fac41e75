import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { accountsProductionRules, signingSettings } from '@gateway/accounts';
import { auditSettings } from '@gateway/audit';
import type { ProductionRule } from '@gateway/service-kit';
import {
  calledAddress,
  callersAreKnown,
  commonSettings,
  hasIdentity,
  identitySettings,
  kafkaProductionRules,
  mongoProductionRules,
  outboundProxySettings,
  proxyPasswordIsEncrypted,
  rangesOverlap,
  sandboxRetentionSettings,
  whenUnset,
} from '@gateway/service-kit';
import { CALLBACK_RETENTION } from './adapters/mongo/retention';
import { DISPATCHER_LIMITS } from './application/dispatcher';

const CONCURRENCY_MAX = 4_096;
/** 12 retries in about 74 hours: decisions.md, section 6. */
const RETRY_SCHEDULE = '1,3,9,27,81,243,729,2187,6561,19683,59049,177147';
/** At most 50 retries, each after at most 9999999 seconds. */
const RETRY_SCHEDULE_PATTERN = '^\\d{1,7}(,\\d{1,7}){0,49}$';

export const settings = Type.Object({
  ...commonSettings,
  ...outboundProxySettings,
  ...signingSettings,
  ...auditSettings,
  ...identitySettings,
  CARD_QUERY_URL: calledAddress({ whose: 'own', description: 'Query port of card-processing' }),
  PAYOUT_QUERY_URL: calledAddress({ whose: 'own', description: 'Query port of payout' }),
  CALLBACK_RETRY_SCHEDULE: Type.String({
    default: RETRY_SCHEDULE,
    pattern: RETRY_SCHEDULE_PATTERN,
    description: 'Seconds to wait after each failed attempt, comma-separated; then the callback is exhausted',
  }),
  CALLBACK_ALLOW_CIDRS: Type.String({
    default: '',
    description: 'Private address ranges that callbacks may reach all the same, comma-separated',
  }),
  CALLBACK_PROXY_TARGET: Type.Union([Type.Literal('address'), Type.Literal('name')], {
    default: 'address',
    description:
      'What `OUTBOUND_PROXY_URL` is asked to reach: the `address` that was checked, or the `name`, where [the proxy must refuse private addresses](operator.md#a-forward-proxy)',
  }),
  CALLBACK_ADMIN_PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9202,
    description: 'Port of queries and of `npm run callbacks`; 0 takes a free port',
  }),
  CALLBACK_CONCURRENCY: Type.Integer({
    minimum: 2,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.concurrency,
    description: 'Callbacks that one replica sends at once',
  }),
  CALLBACK_CONCURRENCY_PER_MERCHANT: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.concurrencyPerMerchant,
    description: 'Of these, callbacks to one merchant',
  }),
  CALLBACK_UNPROVEN_PER_MERCHANT: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.unprovenPerMerchant,
    description: 'Of these, callbacks to addresses that are new, or were slow or silent last time',
  }),
  CALLBACK_CONCURRENCY_PER_ADDRESS: Type.Integer({
    minimum: 1,
    maximum: CONCURRENCY_MAX,
    default: DISPATCHER_LIMITS.concurrencyPerAddress,
    description: "Of a merchant's callbacks, those to one address",
  }),
  CALLBACK_RETENTION_DAYS: Type.Optional(
    Type.Integer({
      minimum: 7,
      maximum: 24_000,
      description: `How long callbacks are kept after they were delivered or exhausted, and attempts after they began. ${whenUnset(CALLBACK_RETENTION.real)}`,
    }),
  ),
  ...sandboxRetentionSettings,
});

export type Config = Readonly<Static<typeof settings>>;

/** Loopback, and link-local, where a cloud answers with the credentials of its machines. */
const RANGES_OF_THIS_MACHINE = ['127.0.0.0/8', '0.0.0.0/8', '169.254.0.0/16', '::1', '::', 'fe80::/10'];

/** Callback addresses are chosen by merchants. */
const callbacksStayOutside: ProductionRule<Config> = ({ CALLBACK_ALLOW_CIDRS }) => {
  const allowed = CALLBACK_ALLOW_CIDRS.split(',').map((cidr) => cidr.trim());
  const unsafe = allowed.filter((cidr) => RANGES_OF_THIS_MACHINE.some((range) => rangesOverlap(cidr, range)));
  return unsafe.length === 0
    ? undefined
    : `CALLBACK_ALLOW_CIDRS has ${unsafe.join(', ')}, so that callbacks reach this machine itself.`;
};

export const productionRules: readonly ProductionRule<Config>[] = [
  callbacksStayOutside,
  ...accountsProductionRules,
  callersAreKnown,
  hasIdentity,
  ...kafkaProductionRules,
  ...mongoProductionRules,
  proxyPasswordIsEncrypted,
];

/** Seconds to wait after each failed attempt. */
export function retryScheduleOf({ CALLBACK_RETRY_SCHEDULE }: Pick<Config, 'CALLBACK_RETRY_SCHEDULE'>): number[] {
  return CALLBACK_RETRY_SCHEDULE.split(',').map(Number);
}
