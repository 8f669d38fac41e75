import { join } from 'node:path';

/** A script that runs before the service, and its settings. */
export interface Preload {
  file: string;
  env: Record<string, string>;
}

/** What a process runs: a built checkout, and scripts before it (`--require`). */
export interface Release {
  root: string;
  preloads: readonly Preload[];
}

/** Replaces a text of one built file, where it must occur exactly once. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

const MUTATE_PRELOAD = join(__dirname, '..', 'preload', 'mutate.cjs');

/** The release as if it had been built from edited files. */
export function edited({ root, preloads }: Release, edits: readonly Edit[]): Release {
  return { root, preloads: [...preloads, { file: MUTATE_PRELOAD, env: { MUTATION: JSON.stringify(edits) } }] };
}

export const THIS_RELEASE: Release = { root: join(__dirname, '..', '..', '..'), preloads: [] };
