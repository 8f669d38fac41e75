import { lastCutOff, parseCutOffs } from './cut-offs';

const last = (cutOffs: string, now: string) => {
  const parsed = parseCutOffs(cutOffs);
  return parsed && new Date(lastCutOff(parsed, Date.parse(now))).toISOString();
};

describe('the last cut-off', () => {
  it.each([
    ['08:00,14:30', '2026-11-21T14:30:00Z', '2026-11-21T14:30:00.000Z'],
    ['08:00,14:30', '2026-11-21T14:29:59.999Z', '2026-11-21T08:00:00.000Z'],
    ['14:30, 08:00', '2026-11-21T09:00:00Z', '2026-11-21T08:00:00.000Z'],
    ['08:00,14:30', '2026-11-21T07:59:00Z', '2026-11-20T14:30:00.000Z'],
    ['00:00', '2026-11-21T00:00:00Z', '2026-11-21T00:00:00.000Z'],
    ['30m', '2026-11-21T14:59:59Z', '2026-11-21T14:30:00.000Z'],
    ['7m', '2026-11-21T23:59:59Z', '2026-11-21T23:55:00.000Z'],
    ['1440m', '2026-11-21T23:59:59Z', '2026-11-21T00:00:00.000Z'],
  ])('of %s at %s is %s', (cutOffs, now, expected) => expect(last(cutOffs, now)).toBe(expected));

  it.each(['', '24:00', '8:00', '08:60', '08:00,', '0m', '1441m', '30', 'x', '-5m'])('%j is no cut-off', (text) => {
    expect(parseCutOffs(text)).toBeUndefined();
  });
});
