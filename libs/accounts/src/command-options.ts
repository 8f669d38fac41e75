import type { ParseArgsConfig } from 'node:util';
import { closeSync, openSync, readSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { TransactionType } from '@gateway/contracts';
import { formatAmountE4, isCurrency, parseAmountE4, Secret, TRANSACTION_TYPES } from '@gateway/contracts';
import type { Ask } from '@gateway/service-kit';
import { canonicalRange } from '@gateway/service-kit';
import type { AccountSettings, AmountLimit, PayoutFee, PayoutRule } from './account';
import type { AccountChanges, PayoutRulesByKind } from './account-changes';
import type { CardRule, CardRuleKind, CardRulesByKind } from './card-rules';
import { CARD_RULE_KINDS, CARD_RULE_SUBJECTS, DEFAULT_CARD_RULES, withCardRules } from './card-rules';
import { isLogo, LOGO_BYTES_MAX, LOGO_RULE } from './logo';
import type { NumberLimits } from '@gateway/vault';
import type { NewTerminal } from './terminals';
import type { CustomParameter } from '@gateway/contracts';
import { CUSTOM_PARAMETERS } from '@gateway/contracts';

/** Invalid arguments; `message` is one sentence. */
export class UsageError extends Error {}

const NONE = 'none';
const ALL = 'all';
const DEFAULT = 'default';
const OFF = 'off';

const SETTING_OPTIONS = {
  'display-name': { type: 'string' },
  logo: { type: 'string' },
  types: { type: 'string' },
  terminal: { type: 'string', multiple: true },
  limit: { type: 'string', multiple: true },
  'allow-ip': { type: 'string', multiple: true },
  'return-host': { type: 'string', multiple: true },
  'rate-limit': { type: 'string' },
  concurrency: { type: 'string' },
  'hold-callbacks': { type: 'string' },
  custom: { type: 'string' },
  'card-hash-beside-digits': { type: 'string' },
  'card-numbers': { type: 'string' },
  'payout-fee': { type: 'string' },
  'payout-instant': { type: 'string' },
  'payout-debtor': { type: 'string' },
  'payout-daily-amount': { type: 'string', multiple: true },
  'payout-daily-count': { type: 'string' },
  'payout-first-receiver': { type: 'string', multiple: true },
  'payout-blocked-countries': { type: 'string', multiple: true },
  'payout-blocked-ibans': { type: 'string', multiple: true },
  'card-declines': { type: 'string', multiple: true },
  'card-attempts': { type: 'string', multiple: true },
  'test-card-declines': { type: 'string', multiple: true },
  'test-card-attempts': { type: 'string', multiple: true },
} as const;

const TERMINAL_OPTIONS = {
  'activate-terminal': { type: 'string', multiple: true },
  'deactivate-terminal': { type: 'string', multiple: true },
  'remove-terminal': { type: 'string', multiple: true },
} as const;

const PAYOUTS_OPTION = { payouts: { type: 'string' } } as const;

const WEBHOOK_SECRET_OPTION = { 'webhook-secret': { type: 'string' } } as const;

const PASSWORD_OPTION = { 'ask-password': { type: 'boolean' } } as const;

export const COMMAND_OPTIONS = {
  create: { ...PASSWORD_OPTION, ...SETTING_OPTIONS },
  set: { ...SETTING_OPTIONS, ...TERMINAL_OPTIONS, ...PAYOUTS_OPTION, ...WEBHOOK_SECRET_OPTION },
  'rotate-password': { ...PASSWORD_OPTION, 'sign-with-old': { type: 'string' } },
} as const satisfies Record<string, NonNullable<ParseArgsConfig['options']>>;

/** The value of every given option: a text, a list if it may be repeated, true if it takes no value. */
export type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export interface Arguments {
  values: OptionValues;
  positionals: string[];
}

/** Throws {@link UsageError} for an option that the command does not have. */
export function readArguments(args: string[], command: string): Arguments {
  const options = (COMMAND_OPTIONS as Record<string, ParseArgsConfig['options']>)[command] ?? {};
  try {
    const parsed = parseArgs({
      args,
      options: { ...options, json: { type: 'boolean' } },
      allowPositionals: true,
    });
    return { values: parsed.values, positionals: parsed.positionals };
  } catch (error) {
    throw new UsageError(firstSentence((error as Error).message));
  }
}

/** The password that the operator types or pipes in; undefined if one shall be generated. */
export async function passwordOf(values: OptionValues, ask: Ask): Promise<Secret | undefined> {
  return values['ask-password'] === true ? new Secret(await ask('Password')) : undefined;
}

/** How long the old password keeps signing callbacks; undefined if the option is missing. */
export function signWithOldSecondsOf(values: OptionValues): number | undefined {
  const seconds = textOf(values, 'sign-with-old');
  return seconds === undefined ? undefined : parseWhole('--sign-with-old', seconds);
}

/** What to do with the secrets of callbacks; undefined if the option is missing. */
export function webhookSecretOf(values: OptionValues): 'new' | 'retire' | undefined {
  const asked = textOf(values, 'webhook-secret');
  if (asked === undefined || asked === 'new' || asked === 'retire') return asked;
  throw new UsageError(`--webhook-secret is new or retire, not "${asked}".`);
}

/** Settings of a new account. */
export function newSettingsOf(values: OptionValues): Partial<AccountSettings> {
  const payoutRules = Object.values(payoutRulesOf(values)).flat();
  const { cardRulesByKind: real, testCardRulesByKind: test } = cardRulesOf(values);
  return {
    ...settingsOf(values),
    ...(payoutRules.length === 0 ? {} : { payoutRules }),
    ...(real && { cardRules: withCardRules(DEFAULT_CARD_RULES, real) }),
    ...(test && { testCardRules: withCardRules([], test) }),
  };
}

/** Options that create and set share. Among them are no transaction types but those of cards. */
export function settingsOf(
  values: OptionValues,
): Omit<Partial<AccountSettings>, 'transactionTypes'> & { transactionTypes?: readonly TransactionType[] } {
  const displayName = textOf(values, 'display-name');
  const logo = textOf(values, 'logo');
  const types = textOf(values, 'types');
  const limits = listOf(values, 'limit');
  const ipAllowlist = listOf(values, 'allow-ip');
  const returnHosts = listOf(values, 'return-host');
  const rateLimit = textOf(values, 'rate-limit');
  const concurrency = textOf(values, 'concurrency');
  const holdCallbacks = textOf(values, 'hold-callbacks');
  const custom = textOf(values, 'custom');
  const hashBesideDigits = textOf(values, 'card-hash-beside-digits');
  const cardNumbers = textOf(values, 'card-numbers');
  const payoutFee = textOf(values, 'payout-fee');
  const payoutInstant = textOf(values, 'payout-instant');
  const payoutDebtor = textOf(values, 'payout-debtor');
  return {
    ...(displayName === undefined ? {} : { displayName: displayName === NONE ? undefined : displayName }),
    ...(logo === undefined ? {} : { logo: logo === NONE ? undefined : logoIn(logo) }),
    ...(types === undefined ? {} : { transactionTypes: cardTypesIn(types) }),
    ...(limits === undefined ? {} : { limits: limits.map(parseLimit) }),
    ...(ipAllowlist === undefined ? {} : { ipAllowlist: ipAllowlist.map(parseRange) }),
    ...(returnHosts === undefined ? {} : { returnHosts }),
    ...(rateLimit === undefined ? {} : { rateLimitPerSecond: parseWhole('--rate-limit', rateLimit) }),
    ...(concurrency === undefined ? {} : { maxConcurrentRequests: parseWhole('--concurrency', concurrency) }),
    ...(holdCallbacks === undefined ? {} : { holdCallbackHours: parseHours('--hold-callbacks', holdCallbacks) }),
    ...(custom === undefined ? {} : { customParameters: namesIn('--custom', custom, CUSTOM_PARAMETERS) }),
    ...(hashBesideDigits === undefined
      ? {}
      : { cardHashBesideDigits: parseChoice('--card-hash-beside-digits', hashBesideDigits, 'on', 'off') }),
    ...(cardNumbers === undefined ? {} : { cardNumbers: parseCardNumbers(cardNumbers) }),
    ...(payoutFee === undefined ? {} : { payoutFee: parseFee(payoutFee) }),
    ...(payoutInstant === undefined
      ? {}
      : { payoutInstant: parseChoice('--payout-instant', payoutInstant, 'yes', 'no') }),
    ...(payoutDebtor === undefined ? {} : { payoutDebtor }),
  };
}

/** The payout rules of each kind that an option names; `none` means no rules of that kind. */
export function payoutRulesOf(values: OptionValues): PayoutRulesByKind {
  const dailyAmounts = itemsOf(values, 'payout-daily-amount');
  const dailyCount = textOf(values, 'payout-daily-count');
  const firstReceiver = itemsOf(values, 'payout-first-receiver');
  const countries = itemsOf(values, 'payout-blocked-countries');
  const ibans = itemsOf(values, 'payout-blocked-ibans');
  return {
    ...(dailyAmounts && {
      'daily-amount': dailyAmounts.map((text): PayoutRule => ({
        kind: 'daily-amount',
        ...parseMaximum('--payout-daily-amount', text),
      })),
    }),
    ...(dailyCount !== undefined && { 'daily-count': parseDailyCount(dailyCount) }),
    ...(firstReceiver && {
      'first-time-receiver': firstReceiver.map((text): PayoutRule => ({
        kind: 'first-time-receiver',
        ...parseMaximum('--payout-first-receiver', text),
      })),
    }),
    ...(countries && {
      'blocked-countries': countries.length === 0 ? [] : [{ kind: 'blocked-countries', countries }],
    }),
    ...(ibans && { 'blocked-ibans': ibans.length === 0 ? [] : [{ kind: 'blocked-ibans', ibans }] }),
  };
}

/** The velocity rules of each kind that an option names, in real currencies and in XTS. */
export function cardRulesOf(values: OptionValues): Pick<AccountChanges, 'cardRulesByKind' | 'testCardRulesByKind'> {
  const real = cardRulesIn(values, '');
  const test = cardRulesIn(values, 'test-');
  return {
    ...(Object.keys(real).length > 0 && { cardRulesByKind: real }),
    ...(Object.keys(test).length > 0 && { testCardRulesByKind: test }),
  };
}

function cardRulesIn(values: OptionValues, prefix: '' | 'test-'): CardRulesByKind {
  const given = CARD_RULE_KINDS.flatMap((kind) => {
    const option = `${prefix}card-${kind}`;
    const items = itemsOf(values, option);
    if (items === undefined) return [];
    // XTS has none by default.
    const isDefault = prefix === '' && items.length === 1 && items[0] === DEFAULT;
    return [[kind, isDefault ? DEFAULT : items.map((text) => parseCardRule(kind, `--${option}`, text))] as const];
  });
  return Object.fromEntries(given);
}

export function terminalsOf(values: OptionValues): NewTerminal[] {
  return (listOf(values, 'terminal') ?? []).map(parseTerminal);
}

/** Empty if only the webhook secrets change. Throws {@link UsageError} when nothing does. */
export function changesOf(values: OptionValues): AccountChanges {
  const changes: AccountChanges = { ...settingsOf(values) };
  Object.assign(changes, cardRulesOf(values));
  const payoutRulesByKind = payoutRulesOf(values);
  if (Object.keys(payoutRulesByKind).length > 0) changes.payoutRulesByKind = payoutRulesByKind;
  const payouts = textOf(values, 'payouts');
  if (payouts !== undefined) changes.payouts = parseChoice('--payouts', payouts, 'on', 'off');
  const addTerminals = terminalsOf(values);
  if (addTerminals.length > 0) changes.addTerminals = addTerminals;
  const activate = listOf(values, 'activate-terminal');
  if (activate !== undefined) changes.activateTerminals = activate;
  const deactivate = listOf(values, 'deactivate-terminal');
  if (deactivate !== undefined) changes.deactivateTerminals = deactivate;
  const remove = listOf(values, 'remove-terminal');
  if (remove !== undefined) changes.removeTerminals = remove;
  if (Object.keys(changes).length === 0 && webhookSecretOf(values) === undefined)
    throw new UsageError('set needs at least one option that says what to change.');
  return changes;
}

function textOf(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** `none` alone means the empty list. */
function listOf(values: OptionValues, name: string): string[] | undefined {
  const value = values[name];
  if (!Array.isArray(value)) return undefined;
  const list = value.filter((one) => typeof one === 'string');
  return list.length === 1 && list[0] === NONE ? [] : list;
}

/** Values from repeated options, commas, or both; `none` alone means the empty list. */
function itemsOf(values: OptionValues, name: string): string[] | undefined {
  return listOf(values, name)?.flatMap((text) => text.split(',').map((item) => item.trim()));
}

function cardTypesIn(types: string): readonly TransactionType[] {
  if (types.split(',').some((name) => name.trim() === 'PAYOUT')) {
    throw new UsageError('--types lists card transactions; "set ACCOUNT --payouts on" turns payouts on.');
  }
  return namesIn('--types', types, TRANSACTION_TYPES);
}

/** `all`, `none`, or names with commas between them. */
function namesIn<T extends TransactionType | CustomParameter>(
  option: string,
  text: string,
  known: readonly T[],
): readonly T[] {
  if (text === ALL) return known;
  if (text === NONE) return [];
  const given = text.split(',').map((name) => name.trim());
  const unknown = given.find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`${option} does not know "${unknown}".`);
  return known.filter((name) => given.includes(name));
}

/** Reads little more than a logo may have, whatever the file is. */
function logoIn(file: string): string {
  const problem = `--logo ${file} is not ${LOGO_RULE}, or none.`;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const bytes = Buffer.alloc(LOGO_BYTES_MAX + 1);
    const png = bytes.subarray(0, readSync(descriptor, bytes));
    if (!isLogo(png)) throw new UsageError(problem);
    return png.toString('base64');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--logo ${file} cannot be read.`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function parseLimit(text: string): AmountLimit {
  const [, currency = '', min = '', max = ''] = /^([^:]*):([^-]*)-(.*)$/.exec(text) ?? [];
  const [minE4, maxE4] = [parseAmountE4(min), parseAmountE4(max)];
  if (!isCurrency(currency) || minE4 === undefined || maxE4 === undefined) {
    throw new UsageError(`--limit ${text} is not of the form EUR:1.00-500.00.`);
  }
  return { currency, minE4, maxE4 };
}

function parseMaximum(option: string, text: string): { currency: string; maxE4: number } {
  const [, currency = '', max = ''] = /^([^:]*):(.*)$/.exec(text) ?? [];
  const maxE4 = parseAmountE4(max);
  if (!isCurrency(currency) || maxE4 === undefined) {
    throw new UsageError(`${option} ${text} is not of the form EUR:500.00.`);
  }
  return { currency, maxE4 };
}

function parseDailyCount(text: string): PayoutRule[] {
  return text === NONE ? [] : [{ kind: 'daily-count', max: parseWhole('--payout-daily-count', text) }];
}

const SECONDS_OF_UNIT = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 60 * 60],
  ['d', 24 * 60 * 60],
]);

function parseCardRule(kind: CardRuleKind, option: string, text: string): CardRule {
  const [, subject = '', max = '', count = '', unit = ''] =
    /^(\w+):([1-9]\d{0,6})\/(\d{1,7})([smhd])$/.exec(text) ?? [];
  const by = CARD_RULE_SUBJECTS.find((known) => known === subject);
  if (by === undefined) {
    throw new UsageError(
      `${option} ${text} is not of the form ip:20/1h (${CARD_RULE_SUBJECTS.join(', ')}; s, m, h, d).`,
    );
  }
  return { kind, by, max: Number(max), windowSeconds: Number(count) * (SECONDS_OF_UNIT.get(unit) ?? 0) };
}

/** `default` removes the setting. */
function parseCardNumbers(text: string): NumberLimits | undefined {
  if (text === DEFAULT) return undefined;
  const [, perBin, inAll] = /^([1-9]\d{0,8}):([1-9]\d{0,8})$/.exec(text) ?? [];
  if (perBin === undefined || inAll === undefined) {
    throw new UsageError(`--card-numbers ${text} is neither of the form 500:20000 (for each BIN, in all) nor default.`);
  }
  return { perBin: Number(perBin), inAll: Number(inAll) };
}

function parseChoice(option: string, text: string, yes: string, no: string): boolean {
  if (text !== yes && text !== no) throw new UsageError(`${option} is ${yes} or ${no}, not "${text}".`);
  return text === yes;
}

/** `off` removes the setting. */
function parseHours(option: string, text: string): number | undefined {
  if (text === OFF) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new UsageError(`${option} ${text} is neither a whole number of hours nor off.`);
  return Number(text);
}

function parseRange(text: string): string {
  const range = canonicalRange(text);
  if (range === undefined) throw new UsageError(`--allow-ip ${text} is not an IP address or CIDR.`);
  return range;
}

function parseTerminal(text: string): NewTerminal {
  const [currency = '', acquirer = '', hold = '', late = '', ...rest] = text.split(':');
  if (!isCurrency(currency) || rest.length > 0 || (late !== '' && late !== 'late-void')) {
    throw new UsageError(`--terminal ${text} is not of the form EUR[:acquirer[:holdSeconds[:late-void]]].`);
  }
  return {
    currency,
    lateVoid: late !== '',
    ...(acquirer === '' ? {} : { acquirer }),
    ...(hold === '' ? {} : { holdSeconds: parseWhole('--terminal holdSeconds', hold) }),
  };
}

function parseWhole(option: string, text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`${option} ${text} is not a whole number above 0.`);
  return Number(text);
}

/** `0.50+1%`, `0.50`, `1%` or `none`; a percentage has as many decimals as an amount. */
function parseFee(text: string): PayoutFee {
  if (text === NONE) return { fixedE4: 0, percentE4: 0 };
  const parts = /^(?:([\d.]+)(?:\+([\d.]+)%)?|([\d.]+)%)$/.exec(text);
  const fixedE4 = parseAmountE4(parts?.[1] ?? '0');
  const percentE4 = parseAmountE4(parts?.[2] ?? parts?.[3] ?? '0');
  if (parts === null || fixedE4 === undefined || percentE4 === undefined) {
    throw new UsageError(`--payout-fee ${text} is not of the form 0.50+1%.`);
  }
  return { fixedE4, percentE4 };
}

export function formatFee({ fixedE4, percentE4 }: PayoutFee): string {
  return `${formatAmountE4(fixedE4)}+${formatAmountE4(percentE4)}%`;
}

function firstSentence(text: string): string {
  const sentence = /^.*?[^.]\.(?=\s|$)/s.exec(text)?.[0] ?? text;
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
