import { stopServers } from './servers';

/** Stops what global set-up has started. */
export default async function globalTeardown(): Promise<void> {
  await stopServers();
}
