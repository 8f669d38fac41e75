const shared = require('./jest.config.cjs');

/** The upgrade run (docs/operator.md#upgrading). `npm run test:upgrade` runs it. */
module.exports = { ...shared, testMatch: ['**/test/upgrade/*.run.ts'], maxWorkers: 1 };
