const inFolder = (folder) => `^services/[^/]+/src/${folder}/`;

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-is-pure',
      comment: "The domain sees itself and the contracts' types: no clock, randomness, npm package or I/O.",
      severity: 'error',
      from: { path: inFolder('domain'), pathNot: '\\.test\\.ts$' },
      to: { pathNot: ['^services/[^/]+/src/domain/', '^libs/contracts/src/'] },
    },
    {
      name: 'application-sees-no-adapters',
      severity: 'error',
      from: { path: inFolder('application'), pathNot: '\\.test\\.ts$' },
      to: { path: '^services/[^/]+/src/(adapters/|app\\.ts|main\\.ts|config\\.ts)' },
    },
    {
      name: 'application-reaches-the-world-through-ports',
      severity: 'error',
      from: { path: inFolder('application'), pathNot: '\\.test\\.ts$' },
      to: { path: 'node_modules/(kafkajs|mongoose|mongodb|axios|express)/' },
    },
    {
      name: 'adapters-do-not-see-the-app',
      severity: 'error',
      from: { path: inFolder('adapters') },
      to: { path: '^services/[^/]+/src/(app|main)\\.ts' },
    },
    {
      name: 'services-never-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/(src|test)' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'libs-never-import-services',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^services/' },
    },
    {
      name: 'contracts-stand-alone',
      severity: 'error',
      from: { path: '^libs/contracts/src' },
      to: { path: '^(libs/(?!contracts)|services/)' },
    },
    {
      name: 'client-stands-alone',
      comment: 'Shops install it: it may use nothing but Node.',
      severity: 'error',
      from: { path: '^libs/merchant-client/src', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^libs/merchant-client/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'testing-only-in-tests',
      severity: 'error',
      from: { pathNot: ['\\.test\\.ts$', '/test/', '^libs/testing/', '^bench/'] },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'examples-use-what-outsiders-have',
      comment: 'They show what merchants and analysts can do, who have no other package of this repository.',
      severity: 'error',
      from: { path: '^examples/', pathNot: '(\\.test\\.ts$|/test/)' },
      to: { path: '^(libs/(?!merchant-client/)|services/|deploy/)' },
    },
    { name: 'no-orphan-dependency', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'tls-by-one-factory',
      comment:
        'Protocols, suites and trust come from tls-options.ts, which these files use. Merchants install the client, the doctor only reads certificates, and benchmarks and examples play merchants.',
      severity: 'error',
      from: {
        path: '^((services|libs|deploy|examples)/[^/]+|bench)/src/',
        pathNot: [
          '\\.test\\.ts$',
          '^libs/(testing|merchant-client)/',
          '^bench/src/(callbacks-receivers|callbacks-loop|neighbours-victims)\\.ts$',
          '^examples/shop/src/main\\.ts$',
          '^libs/service-kit/src/(certificates|http-client|http-server|listening-sockets|outbound-proxy|request-turns|require-tls)\\.ts$',
          '^libs/messaging/src/(client|connection)\\.ts$',
          '^services/callback-dispatcher/src/adapters/http/callback-(agent|client)\\.ts$',
          '^deploy/operations/src/doctor/checks/certificates\\.ts$',
        ],
      },
      to: { path: '^(node:)?(tls|https|http2)$' },
    },
    {
      name: 'kafka-behind-messaging',
      severity: 'error',
      from: { pathNot: ['^libs/(messaging|testing)/', '^examples/analytics/'] },
      to: { path: 'node_modules/kafkajs/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
