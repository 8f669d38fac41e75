import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings, loadConfig } from '@gateway/service-kit';

const { LOG_LEVEL, OPS_PORT, MONGODB_URI, DATABASE_PREFIX, SERVICE_TOKEN } = commonSettings;

/** Base64 of at least 32 bytes. */
const KEY = '^(?:[A-Za-z0-9+/]{4}){10,}(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{6}==)$';

const settings = Type.Object({
  LOG_LEVEL,
  OPS_PORT,
  MONGODB_URI,
  DATABASE_PREFIX,
  SERVICE_TOKEN,
  SIMULATOR_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8090 }),
  /** Sandbox only: it asks nobody for credentials, so that it stays on loopback unless told otherwise. */
  SIMULATOR_HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  /** How browsers reach the issuer's page. Unset: `http://127.0.0.1` with the port that is listened on. */
  SIMULATOR_PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^/?#]+[^?#]*$' })),
  /** Signs the directory server's result messages; 3DS servers have the same. */
  DS_MESSAGE_KEY: Type.String({ pattern: KEY }),
  /** Added to each answer. */
  SIMULATOR_LATENCY_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  /** How long a connection that is never answered stays open when the client does not close it. */
  SIMULATOR_SILENCE_MS: Type.Integer({ minimum: 1, maximum: 600_000, default: 60_000 }),
});

export type SimulatorConfig = Readonly<Static<typeof settings>>;

export function readConfig(env: Record<string, string | undefined>): SimulatorConfig {
  return loadConfig(settings, env);
}
