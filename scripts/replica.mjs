/**
 * `npm run replica -- SERVICE`: one more process of a service of the system that `npm start` runs, until it is stopped.
 * It opens free ports, unless the environment names them.
 */
import { explain, Failure } from './failure.mjs';
import { developmentIdentities } from './gateway/identities.mjs';
import { storedSecrets } from './gateway/secrets.mjs';
import { services, serviceProgram } from './gateway/services.mjs';
import { systemEnvironment } from './gateway/system-environment.mjs';
import { runInForeground } from './processes/foreground.mjs';

/**
 * @param {string | undefined} name
 * @returns {Promise<number>} the exit code
 */
function run(name) {
  const service = services.find((known) => known.name === name);
  if (service === undefined) {
    throw new Failure(`Usage: npm run replica -- SERVICE, one of ${services.map((known) => known.name).join(', ')}.`);
  }
  const ports = ['OPS_PORT', ...service.listens].map((port) => [port, process.env[port] || '0']);
  const settings = {
    ...systemEnvironment(),
    // There it is the operator's.
    IDENTITY_TOKEN_FILE: '',
    ...developmentIdentities().of(service.name),
    ...Object.fromEntries(ports),
  };
  return runInForeground(serviceProgram(service.name, settings, storedSecrets()));
}

try {
  process.exitCode = await run(process.argv[2]);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
