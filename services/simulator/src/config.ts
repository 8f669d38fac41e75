import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings, loadConfig } from '@gateway/service-kit';

const { LOG_LEVEL, OPS_PORT, MONGODB_URI, DATABASE_PREFIX, SERVICE_TOKEN } = commonSettings;

const settings = Type.Object({
  LOG_LEVEL,
  OPS_PORT,
  MONGODB_URI,
  DATABASE_PREFIX,
  SERVICE_TOKEN,
  SIMULATOR_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8090 }),
  /** Sandbox only: it asks nobody for credentials, so that it stays on loopback unless told otherwise. */
  SIMULATOR_HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  /** Added to each answer. */
  SIMULATOR_LATENCY_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  /** How long a connection that is never answered stays open when the client does not close it. */
  SIMULATOR_SILENCE_MS: Type.Integer({ minimum: 1, maximum: 600_000, default: 60_000 }),
});

export type SimulatorConfig = Readonly<Static<typeof settings>>;

export function readConfig(env: Record<string, string | undefined>): SimulatorConfig {
  return loadConfig(settings, env);
}
