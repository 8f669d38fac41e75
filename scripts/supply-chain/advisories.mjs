import { readFileSync } from 'node:fs';
import { npm } from './npm.mjs';

/**
 * An advisory that we live with. `expires`: the day (YYYY-MM-DD) from which it counts again, at most 90 days away.
 * @typedef {{ id: string, package: string, reason: string, expires: string }} Accepted
 *
 * `via` holds advisories, and names of packages that bring them.
 * @typedef {{ vulnerabilities?: Record<string, { via: (string | Advisory)[] }>, error?: unknown }} Report of `npm audit`
 * @typedef {{ url: string, name: string, title: string, severity: string }} Advisory
 */

const ACCEPTED_DAYS_MAX = 90;
const DAY_MS = 86_400_000;

/** @returns {Accepted[]} */
export function acceptedAdvisories() {
  return JSON.parse(readFileSync(new URL('accepted-advisories.json', import.meta.url), 'utf8'));
}

/**
 * Asks the registry about the locked packages.
 * @returns {Promise<{ report: Report } | { unanswered: string }>}
 */
export async function askForAdvisories() {
  const { stdout, stderr } = await npm('audit', '--json', '--package-lock-only');
  try {
    /** @type {Report} */
    const report = JSON.parse(stdout);
    if (report.vulnerabilities !== undefined) return { report };
  } catch {
    // Not an answer.
  }
  return { unanswered: /npm (?:error|warn) audit (.*?)(?: - |$)/m.exec(stderr)?.[1] ?? 'no report' };
}

/**
 * What is wrong with the locked packages, or with what was accepted, one sentence each.
 * @param {Report} report
 * @param {Accepted[]} accepted
 * @param {string} today YYYY-MM-DD
 * @returns {string[]}
 */
export function problemsOf(report, accepted, today) {
  const found = advisoriesIn(report);
  const latest = dayAfter(today, ACCEPTED_DAYS_MAX);
  const open = found.filter((advisory) => !accepted.some((one) => isAbout(one, advisory) && one.expires > today));
  const gone = accepted.filter((one) => !found.some((advisory) => isAbout(one, advisory)));
  return [
    ...open.map(({ id, name, severity, title }) => `${name} has ${id} (${severity}): ${title}.`),
    ...accepted
      .filter(({ expires }) => expires > latest)
      .map(({ id }) => `${id} is accepted for more than ${ACCEPTED_DAYS_MAX} days.`),
    ...gone.map((one) => `${one.id} is accepted for ${one.package}, and no locked version has it: remove it.`),
  ];
}

/**
 * @param {Accepted} accepted
 * @param {{ id: string, name: string }} advisory
 */
function isAbout(accepted, { id, name }) {
  return accepted.id === id && accepted.package === name;
}

/**
 * @param {string} day YYYY-MM-DD
 * @param {number} count
 */
function dayAfter(day, count) {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Each advisory once, whatever brings it.
 * @param {Report} report
 */
function advisoriesIn({ vulnerabilities = {} }) {
  const advisories = Object.values(vulnerabilities).flatMap(({ via }) =>
    via.flatMap((one) => (typeof one === 'string' ? [] : [one])),
  );
  const named = advisories.map(({ url, ...rest }) => ({ id: url.slice(url.lastIndexOf('/') + 1), ...rest }));
  return [...new Map(named.map((advisory) => [`${advisory.id} ${advisory.name}`, advisory])).values()];
}
