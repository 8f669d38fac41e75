import { stopServers } from './servers';

/** Ends what global set-up has started. */
export default async function globalTeardown(): Promise<void> {
  await stopServers();
}
