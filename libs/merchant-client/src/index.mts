/**
 * The types of `import`. In the package the bundle that `npm run build` makes takes the place of this file's output: a
 * bundler that makes ES modules cannot load CommonJS that requires modules of Node.
 */
export {
  ADVICE,
  RESPONSE_CODES,
  adviceOf,
  assertNever,
  createClient,
  expressCallbackHandler,
  fetchCallbackHandler,
  signTestCallback,
  verifyCallback,
} from './index.js';
export type * from './index.js';
