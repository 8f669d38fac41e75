const { globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config.cjs');

/** What `npm run test:compose` runs against the composed system: the tests of what merchants see, and its own. */
module.exports = {
  ...shared,
  testMatch: ['<rootDir>/test/compose/*.run.ts', '<rootDir>/test/{card-operations,checkout,threeds,payouts}.test.ts'],
  globalSetup: '<rootDir>/test/compose/global-setup.ts',
  maxWorkers: 1,
};
