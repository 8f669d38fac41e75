const shared = require('./jest.config.cjs');

/** Payouts by files to a bank that nobody here wrote: docs/iso20022.md. `npm run test:bank` runs it. */
module.exports = { ...shared, testMatch: ['**/test/bank/*.run.ts'], maxWorkers: 1 };
