import type { Send } from '../send';
import { createSend } from '../send';
import { createTransport } from '../transport';
import type { Command, Settings } from './command';
import { parseCommand, UsageError } from './command';
import { listEvents } from './events';
import { GatewayError } from './gateway';
import { listen } from './listen';
import { resend } from './resend';
import type { Terminal } from './terminal';
import { trigger } from './trigger';
import { USAGE } from './usage';

/** Runs one command. @returns the exit code: 0, 1 if it failed, 2 for wrong usage. */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> {
  try {
    const parsed = parseCommand(args, env);
    if (parsed === 'help') {
      terminal.print(USAGE);
      return 0;
    }
    return await runAtGateway(parsed.command, parsed.settings, terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // Not the whole usage text, which would hide the sentence.
    terminal.warn(`${error.message}\n"gateway help" lists the commands and their options.`);
    return 2;
  }
}

/** Names the address before each error: a refusal often comes from another gateway than the one meant. */
async function runAtGateway(command: Command, settings: Settings, terminal: Terminal): Promise<number> {
  try {
    await run(command, settings, terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    terminal.warn(`${settings.url}: ${error.message}`);
    return 1;
  }
}

async function run(command: Command, settings: Settings, terminal: Terminal): Promise<void> {
  const transport = createTransport({ baseUrl: settings.url, maxConnections: 1 });
  const send: Send = createSend(transport, settings);
  try {
    switch (command.name) {
      case 'listen':
        return await listen({ ...command, ...settings, send, terminal });
      case 'trigger':
        return await trigger({ ...command, send, terminal });
      case 'events':
        return await listEvents({ ...command, send, terminal });
      case 'resend':
        return await resend({ ...command, send, terminal });
    }
  } finally {
    transport.close();
  }
}
