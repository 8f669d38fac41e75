const { globalSetup: _setup, globalTeardown: _teardown, ...shared } = require('./jest.config.cjs');

/** The fault suite (docs/faults.md), which brings servers of its own. `npm run test:faults` runs it. */
module.exports = { ...shared, testMatch: ['**/test/faults/*.run.ts'], maxWorkers: 1 };
