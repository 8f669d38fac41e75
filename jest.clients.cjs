const shared = require('./jest.config.cjs');

/** Clients that usual generators make from docs/openapi-clients.yaml. `npm run test:clients` runs them. */
module.exports = { ...shared, testMatch: ['**/test/clients/*.run.ts'], maxWorkers: 1 };
