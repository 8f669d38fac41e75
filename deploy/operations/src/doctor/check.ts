import type { KafkaClient } from '@gateway/messaging';
import type { MongoConnection } from '@gateway/mongo';
import type { Environment, Logger } from '@gateway/service-kit';
import type { Replica } from './replicas';
import type { Config } from './settings';

/** What checks look at. None of them changes anything. */
export interface Deployment {
  readonly config: Config;
  /** Only for what reads its own settings, such as the operator's identity. */
  readonly env: Environment;
  readonly kafka: KafkaClient;
  /** A database without prefix. The doctor closes the connection. */
  database(name: string): Promise<MongoConnection>;
  /** All replicas that the settings name, each asked once. */
  readonly replicas: readonly Replica[];
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: number;
}

/** What a check found. */
export interface Diagnosis {
  /** One sentence each: what is wrong, and what fixes it. Empty if all is well. */
  readonly faults: readonly string[];
  /** What was looked at, if all is well. */
  readonly fine: string;
}

export interface Check {
  readonly name: string;
  /** @throws if it cannot look, e.g. because a server does not answer: that is a fault too */
  examine(deployment: Deployment): Promise<Diagnosis>;
}
