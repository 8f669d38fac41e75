import type { DatabaseAddress } from '@gateway/mongo';
import { connectMongo, databaseTime, databaseUser } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createLogger, loadConfig, mongoProductionRules, mongoSchema } from '@gateway/service-kit';
import type { Action, FieldsOf } from './actions';
import type { AuditedAction, AuditLog, StoredEntry } from './audit-log';
import { createAuditLog } from './audit-log';
import { commandLineOperator } from './operators';

export interface OpenAudit extends AuditLog {
  /** False once the primary is lost; for a service's readiness. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface OpenAuditOptions extends DatabaseAddress {
  databasePrefix: string;
  /** Epoch ms by the database's clock. Default: asks the database for each entry. */
  now?: () => number;
  logger: Pick<Logger, 'info' | 'error'>;
}

/** Opens the log in the database `${databasePrefix}audit`. Makes no index: see {@link AuditLog.ensureIndexes}. */
export async function openAudit(options: OpenAuditOptions): Promise<OpenAudit> {
  const { uri, mongo, databasePrefix } = options;
  const connection = await connectMongo({ uri, mongo, database: `${databasePrefix}audit` });
  const user = await databaseUser(connection).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const log = createAuditLog({
    databaseUser: user,
    collection: connection.collection<StoredEntry>('entries'),
    now: options.now ?? (() => databaseTime(connection)),
    logger: options.logger,
  });
  return { ...log, healthy: () => connection.healthy(), close: () => connection.close() };
}

/** Opens the log for a command line, which prints no log lines but errors. Throws a ConfigurationError. */
export async function openAuditFrom(env: Record<string, string | undefined>): Promise<OpenAudit> {
  const { MONGODB_URI: uri, DATABASE_PREFIX: databasePrefix } = loadConfig(mongoSchema, env, mongoProductionRules);
  return openAudit({ uri, databasePrefix, logger: createLogger({ service: 'audit', level: 'error' }) });
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
