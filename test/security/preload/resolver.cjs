/** Names are looked up at the test's name server, which decides what they mean at each look-up. */
const dns = require('node:dns/promises');

dns.Resolver = class extends dns.Resolver {
  constructor(options) {
    super(options);
    this.setServers([process.env.TEST_NAME_SERVER]);
  }
};
