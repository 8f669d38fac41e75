/** Options of `npm run test:faults -- …`, which scripts/test-faults.mjs passes in the environment. */
export interface RunOptions {
  seed: number;
  /** Duration of the faults. */
  minutes: number;
  merchants: number;
  thinkMs: number;
}

const DEFAULTS = { minutes: 5, merchants: 32, thinkMs: 1_200 };
const SEEDS = 1_000_000;

export function readOptions(env: NodeJS.ProcessEnv = process.env): RunOptions {
  const number = (name: string, otherwise: number): number => {
    const value = Number(env[name] ?? otherwise);
    if (!Number.isFinite(value) || value < 0) throw new Error(`${name} is not a number: ${env[name]}`);
    return value;
  };
  return {
    seed: number('FAULTS_SEED', Math.floor(Math.random() * SEEDS)),
    minutes: number('FAULTS_MINUTES', DEFAULTS.minutes),
    merchants: number('FAULTS_MERCHANTS', DEFAULTS.merchants),
    thinkMs: number('FAULTS_THINK_MS', DEFAULTS.thinkMs),
  };
}
