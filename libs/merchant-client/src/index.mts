/**
 * The types of `import`. In the package the bundle that `npm run build` makes takes the place of this file's output: a
 * bundler that makes ES modules cannot load CommonJS that requires modules of Node.
 */
export * from './index.js';
