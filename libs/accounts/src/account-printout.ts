import { formatAmountE4 } from '@gateway/contracts';
import { assertNever } from '@gateway/service-kit';
import type { Account, AmountLimit, PayoutRule, Terminal } from './account';
import { numberLimitsOf } from './card-numbers';
import type { CardRule } from './card-rules';
import { DEFAULT_CARD_RULES } from './card-rules';
import { formatFee } from './command-options';
import { displayNameOf } from './display-name';
import { describeLogo } from './logo';
import { payoutCurrenciesOf, payoutProblem } from './payout-permission';

/** Everything about an account except its credentials, with the default rules for cards where they apply. */
export function publicFields({ credentials: _, ...account }: Account): Omit<Account, 'credentials'> {
  return { ...account, cardRules: account.cardRules ?? DEFAULT_CARD_RULES, testCardRules: account.testCardRules ?? [] };
}

/** One field per line, for people. */
export function printAccount(account: Account): string {
  const lines: [string, readonly string[]][] = [
    ['account', [account.merchantAccount]],
    ['display name', [displayNameOf(account)]],
    ['logo', [describeLogo(account.logo)]],
    ['state', [account.state]],
    ['types', [account.transactionTypes.join(' ') || 'none']],
    ['terminals', account.terminals.map(printTerminal)],
    ['limits', account.limits.map(printLimit)],
    ['allowed IPs', account.ipAllowlist.length === 0 ? ['any'] : account.ipAllowlist],
    ['return hosts', account.returnHosts],
    ['rate limit', [`${account.rateLimitPerSecond}/s`]],
    ['concurrency', [String(account.maxConcurrentRequests)]],
    ['hold callbacks', [printHoldCallbacks(account)]],
    ['custom', account.customParameters],
    ['card hashes', [account.cardHashBesideDigits === true ? 'beside digits' : 'not beside first six and last four']],
    ['card numbers', [printCardNumbers(account)]],
    ['payouts', [printPayouts(account)]],
    ['payout debtor', account.payoutDebtor === undefined ? [] : [account.payoutDebtor]],
    ['payout fee', [formatFee(account.payoutFee)]],
    ['payout kind', [account.payoutInstant === true ? 'instant' : 'not instant']],
    ['payout rules', (account.payoutRules ?? []).map(printRule)],
    ['card rules', printCardRules(account)],
    ['XTS card rules', (account.testCardRules ?? []).map(printCardRule)],
    ...printOverlap(account),
    ['revision', [String(account.revision)]],
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  return lines
    .flatMap(([name, values]) =>
      (values.length === 0 ? ['none'] : values).map((value, index) => [index === 0 ? name : '', value]),
    )
    .map(([name = '', value = '']) => `${name.padEnd(width)}${value}`)
    .join('\n');
}

/** One account per line. */
export function printSummary(account: Account): string {
  const currencies = new Set(account.terminals.filter((one) => one.active).map((one) => one.currency));
  const payouts = `payouts ${payoutCurrenciesOf(account).join(' ') || 'off'}`;
  return [account.merchantAccount.padEnd(32), account.state.padEnd(9), payouts.padEnd(15), ...currencies].join('  ');
}

function printCardNumbers(account: Account): string {
  const { perBin, inAll } = numberLimitsOf(account);
  return `at most ${perBin} a day with the same BIN, ${inAll} in all${account.cardNumbers === undefined ? ' (default)' : ''}`;
}

function printHoldCallbacks({ holdCallbackHours }: Account): string {
  return holdCallbackHours === undefined ? 'off' : `${holdCallbackHours} h before the end, and at the end`;
}

function printPayouts(account: Account): string {
  const currencies = payoutCurrenciesOf(account);
  if (currencies.length > 0) return `on in ${currencies.join(' and ')}`;
  const problem = payoutProblem(account);
  return problem === undefined ? 'off' : `off: ${problem}`;
}

function printOverlap({ credentials }: Account): [string, string[]][] {
  const { formerSigning } = credentials.expose();
  if (formerSigning === undefined) return [];
  return [['callbacks', [`signed with the former password until ${new Date(formerSigning.until).toISOString()}`]]];
}

function printTerminal(terminal: Terminal): string {
  return [
    terminal.midReference,
    terminal.currency,
    `acquirer ${terminal.acquirer}`,
    `mid_id ${terminal.midId}`,
    terminal.active ? 'active' : 'inactive',
    ...(terminal.holdSeconds === undefined ? [] : [`hold ${terminal.holdSeconds} s`]),
    ...(terminal.lateVoid ? ['late void'] : []),
  ].join('  ');
}

function printLimit(limit: AmountLimit): string {
  return `${limit.currency} ${formatAmountE4(limit.minE4)}-${formatAmountE4(limit.maxE4)}`;
}

function printRule(rule: PayoutRule): string {
  switch (rule.kind) {
    case 'daily-amount':
      return `at most ${rule.currency} ${formatAmountE4(rule.maxE4)} a day`;
    case 'daily-count':
      return `at most ${rule.max} a day, in each currency`;
    case 'blocked-countries':
      return `none to ${rule.countries.join(' ')}`;
    case 'blocked-ibans':
      return `none to ${rule.ibans.join(' ')}`;
    case 'first-time-receiver':
      return `at most ${rule.currency} ${formatAmountE4(rule.maxE4)} in all to a receiver who is not known yet`;
    default:
      return assertNever(rule);
  }
}

function printCardRules({ cardRules }: Account): string[] {
  return cardRules === undefined
    ? DEFAULT_CARD_RULES.map((rule) => `${printCardRule(rule)} (default)`)
    : cardRules.map(printCardRule);
}

function printCardRule({ kind, by, max, windowSeconds }: CardRule): string {
  return `at most ${max} ${kind} by ${by} in ${windowSeconds} s`;
}
