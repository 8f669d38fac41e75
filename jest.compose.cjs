/** Systems that have two or more of what may be lost. */
const REPLICATED = ['scale', 'cluster'];
const { name } = JSON.parse(process.env.COMPOSED ?? '{}');

const { globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config.cjs');

/** What `npm run test:compose` runs against the composed system: the tests of what merchants see, and its own. */
module.exports = {
  ...shared,
  testMatch: ['<rootDir>/test/compose/*.run.ts', '<rootDir>/test/{card-operations,checkout,threeds,payouts}.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(REPLICATED.includes(name) ? [] : ['/losses\\.run\\.ts$'])],
  globalSetup: '<rootDir>/test/compose/global-setup.ts',
  maxWorkers: 1,
};
