import kafkajs from 'kafkajs/package.json';

/** The kafkajs version whose inner modules we reviewed. */
const REVIEWED_VERSION = '2.2.4';

/** @throws if another kafkajs is installed. Review its inner modules before changing the version. */
export function assertKafkajsVersion(): void {
  if (kafkajs.version === REVIEWED_VERSION) return;
  throw new Error(`libs/messaging relies on the inner modules of kafkajs ${REVIEWED_VERSION}, not ${kafkajs.version}`);
}
