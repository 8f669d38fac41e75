const { globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config.cjs');

/** The procedures of docs/rotation.md under traffic, on servers of their own. `npm run test:rotation` runs them. */
module.exports = { ...shared, testMatch: ['**/test/rotation/*.run.ts'], maxWorkers: 1 };
