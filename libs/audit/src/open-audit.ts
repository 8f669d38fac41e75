import { Type } from '@sinclair/typebox';
import { connectMongo, databaseTime } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { commonSettings, createLogger, loadConfig, mongoProductionRules } from '@gateway/service-kit';
import type { Action, FieldsOf } from './actions';
import type { AuditedAction, AuditLog, StoredEntry } from './audit-log';
import { createAuditLog } from './audit-log';
import { commandLineOperator } from './operators';
import { auditSettings } from './settings';

export interface OpenAudit extends AuditLog {
  readonly retentionDays: number;
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenAuditOptions {
  uri: string;
  databasePrefix: string;
  AUDIT_RETENTION_DAYS: number;
  /** Epoch ms by the database's clock. Default: asks the database for each entry. */
  now?: () => number;
  logger: Pick<Logger, 'info' | 'error'>;
}

/** Opens the log in the database `${databasePrefix}audit` and creates its indexes. */
export async function openAudit(options: OpenAuditOptions): Promise<OpenAudit> {
  const { AUDIT_RETENTION_DAYS: retentionDays, logger } = options;
  const connection = await connectMongo({ uri: options.uri, database: `${options.databasePrefix}audit` });
  const log = createAuditLog({
    collection: connection.collection<StoredEntry>('entries'),
    now: options.now ?? (() => databaseTime(connection)),
    logger,
  });
  try {
    await log.ensureIndexes(retentionDays);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return { ...log, retentionDays, healthy: () => connection.healthy(), close: () => connection.close() };
}

const { NODE_ENV, MONGODB_URI, DATABASE_PREFIX } = commonSettings;
const settings = Type.Object({ NODE_ENV, MONGODB_URI, DATABASE_PREFIX, ...auditSettings });

/** Opens the log for a command line, which prints no log lines but errors. Throws a ConfigurationError. */
export function openAuditFrom(env: Record<string, string | undefined>): Promise<OpenAudit> {
  const config = loadConfig(settings, env, mongoProductionRules);
  const logger = createLogger({ service: 'audit', level: 'error' });
  return openAudit({ uri: config.MONGODB_URI, databasePrefix: config.DATABASE_PREFIX, ...config, logger });
}

/**
 * Records one action of a command line, by the operator of the environment: see {@link AuditLog.record}. Opens the log
 * for it. Throws a ConfigurationError if a setting or the identity is missing.
 */
export async function recordCommand<A extends Action, T>(
  env: Record<string, string | undefined>,
  action: Omit<AuditedAction<A>, 'operator'>,
  work: (audit: OpenAudit) => Promise<T>,
  afterOf?: (result: T) => FieldsOf<NoInfer<A>>,
): Promise<T> {
  const operator = commandLineOperator(env);
  const audit = await openAuditFrom(env);
  try {
    return await audit.record({ ...action, operator }, () => work(audit), afterOf);
  } finally {
    await audit.close();
  }
}
