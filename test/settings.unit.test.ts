import { declaredSettings } from './support/declared-settings';

const DECLARED = declaredSettings();

test('the settings of every service are found', () => {
  expect(DECLARED.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['OTLP_URL', 'KMS_ENDPOINT', 'DIRECTORY_SERVER_URL', 'SIMULATOR_URL', 'MONGODB_URI']),
  );
});

test('beside the address of each counterpart is the authority of its certificate', () => {
  const called = DECLARED.filter(({ schema }) => schema['called'] === 'counterpart');
  expect(called.length).toBeGreaterThanOrEqual(5);
  const lacking = called.filter(({ name, besides }) => !besides.includes(name.replace(/_(URL|ENDPOINT)$/, '_CA_FILE')));
  expect(lacking.map(({ name }) => name)).toEqual([]);
});
