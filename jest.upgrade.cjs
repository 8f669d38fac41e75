const { setupFilesAfterEnv: _setup, ...shared } = require('./jest.config.cjs');

/**
 * The upgrade run (docs/operator.md#upgrading). `npm run test:upgrade` runs it. The answers of an older release are those
 * of an older document.
 */
module.exports = { ...shared, testMatch: ['**/test/upgrade/*.run.ts'], maxWorkers: 1 };
