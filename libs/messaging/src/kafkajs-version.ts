import kafkajs from 'kafkajs/package.json';

/** The inner modules of kafkajs that this library uses or corrects were read in this version. */
const READ_VERSION = '2.2.4';

/** @throws when another kafkajs is installed: read its inner modules again before this number changes. */
export function assertKafkajsVersion(): void {
  if (kafkajs.version === READ_VERSION) return;
  throw new Error(`libs/messaging relies on the inner modules of kafkajs ${READ_VERSION}, not ${kafkajs.version}`);
}
