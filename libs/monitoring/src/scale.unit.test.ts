import { alerts } from './alerts/alerts';
import { ruleFile } from './rules';
import { scaledAlert, scaledExpression } from './scale';

test('real time changes nothing', () => {
  expect(ruleFile({ timesFaster: 1 })).toEqual(ruleFile());
  expect(scaledExpression('rate(x[5m])', { timesFaster: 1 })).toBe('rate(x[5m])');
});

test('windows, times and ages shrink; windows keep room for two samples', () => {
  expect(scaledExpression('rate(x[5m]) / rate(y[1d])', { timesFaster: 30 })).toBe(
    'rate(x[10000ms]) / rate(y[2880000ms])',
  );
  expect(scaledExpression('rate(x[1m])', { timesFaster: 60 })).toBe('rate(x[6000ms])');
  const stuck = alerts.find(({ name }) => name === 'OutboxStuck');
  expect(stuck && scaledAlert(stuck, { timesFaster: 30 })).toMatchObject({
    forMinutes: 1 / 30,
    when: [[{ threshold: 2 }]],
  });
  const unanswered = alerts.find(({ name }) => name === 'CallsUnanswered');
  expect(unanswered && scaledAlert(unanswered, { timesFaster: 11 })).toMatchObject({
    when: [[{ threshold: 0.1 }, { threshold: 0.5 }]],
  });
  const skewed = alerts.find(({ name }) => name === 'ClockSkewed');
  expect(skewed && scaledAlert(skewed, { timesFaster: 30 })).toMatchObject({ when: [[{ threshold: 1 }]] });
});
