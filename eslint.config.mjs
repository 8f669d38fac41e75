import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const typeAware = {
  languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
};

/** A number that is a registered response code. Write other numbers with an underscore: 3_000. */
const REGISTERED = '/^(100[1-7]|20(0\\d|1[0-3])|30[0-2]\\d|3[123]\\d\\d|500[0-2])$/';
const bareCode = (selector) => ({ selector, message: 'Name the response code: RESPONSE_CODES.…' });
const namedCodes = [
  bareCode(`Literal[raw=${REGISTERED}]`),
  bareCode('Property[key.name="code"] > Literal.value[raw=/^\\d+$/]'),
  bareCode('BinaryExpression[left.property.name="code"] > Literal.right[raw=/^\\d+$/]'),
];

/** Protocols, suites and trust have one place: libs/service-kit/src/tls-options.ts (docs/adr/0076). */
const TLS_OPTIONS =
  '/^(rejectUnauthorized|checkServerIdentity|minVersion|maxVersion|ciphers|secureProtocol|secureOptions|ecdhCurve|sigalgs)$/';
const oneTlsFactory = [
  {
    selector: `Property[key.name=${TLS_OPTIONS}]`,
    message: 'Take TLS options from tlsClientOptions or tlsServerOptions.',
  },
  {
    selector: `AssignmentExpression > MemberExpression.left[property.name=${TLS_OPTIONS}]`,
    message: 'Take TLS options from tls-options.ts.',
  },
];
/** Its TLS has Node's defaults, and it has no bounds. */
const noFetch = [{ selector: 'CallExpression[callee.name="fetch"]', message: 'Call by createHttpClient.' }];
const noTest = ['**/*.test.ts', '**/test/**', '**/*.fixture.ts'];
/** How long something took says more of the machine than of the code. */
const clock = (selector) => ({ selector, message: 'Count the work (countWork), or wait for what has to happen.' });
const clocks = [
  clock(
    'BinaryExpression[operator="-"][left.callee.object.name=/^(performance|Date)$/][left.callee.property.name="now"]',
  ),
  clock('CallExpression[callee.property.name=/^(cpuUsage|hrtime)$/]'),
];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '.gateway/**', 'coverage/**'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    ...typeAware,
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/require-await': 'off',
      // Interfaces here are made by factories: their methods are closures that use no `this`.
      '@typescript-eslint/unbound-method': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'max-depth': ['error', 4],
      complexity: ['error', 20],
    },
  },
  {
    files: ['{services,libs,scripts,deploy}/**/*.{ts,mjs}'],
    plugins: { regexp },
    // What a text costs grows with its length alone (docs/adr/0072).
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['{services,libs,deploy,bench,examples,scripts}/**/*.{ts,mjs}'],
    ignores: noTest,
    rules: { 'no-restricted-syntax': ['error', ...oneTlsFactory] },
  },
  {
    files: ['services/*/src/**/*.ts', 'libs/*/src/**/*.ts', 'deploy/*/src/**/*.ts'],
    ignores: [...noTest, 'libs/contracts/src/response-codes.ts', 'libs/merchant-client/src/codes.ts'],
    rules: { 'no-restricted-syntax': ['error', ...namedCodes, ...oneTlsFactory, ...noFetch] },
  },
  {
    files: [
      'libs/service-kit/src/tls-options.ts',
      // Reads certificates of whoever presents one, and sends nothing.
      'deploy/operations/src/doctor/checks/certificates.ts',
      // Asks its own container, whose certificate has another name.
      'scripts/images/healthy.mjs',
    ],
    rules: { 'no-restricted-syntax': ['error', ...namedCodes] },
  },
  { files: ['**/cli.ts', '**/*-cli.ts', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.unit.test.ts'],
    rules: { 'no-restricted-syntax': ['error', ...clocks] },
  },
  // jest's asymmetric matchers (`expect.any`, …) are typed `any`.
  { files: ['**/*.test.ts'], rules: { '@typescript-eslint/no-unsafe-assignment': 'off' } },
);
