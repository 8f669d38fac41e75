import { randomInt } from 'node:crypto';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../failure.mjs';

const POLL_INTERVAL_MS = 100;
const PROBE_TIMEOUT_MS = 2_000;
const RELEASE_TIMEOUT_MS = 2_000;
const HIGHEST_PORT = 65_535;
const LOWEST_LASTING_PORT = 20_000;
const HIGHEST_LASTING_PORT = 32_000;

/**
 * A port that one of our processes listens on, and the setting that moves it.
 * @typedef {{ port: number, owner: string, setting: string }} PortUse
 */

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} setting
 * @param {number} fallback
 * @returns {number}
 */
export function portSetting(env, setting, fallback) {
  const text = env[setting] || String(fallback);
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= HIGHEST_PORT) return port;
  throw new Failure(`${setting} must be a port number from 1 to ${HIGHEST_PORT}, and is "${text}".`);
}

/**
 * Throws one {@link Failure} for all ports that are taken, or for the first that cannot be had for another reason.
 * @param {PortUse[]} uses
 */
export async function requireFreePorts(uses) {
  /** @type {Map<number, PortUse>} */
  const seen = new Map();
  for (const use of uses) {
    const other = seen.get(use.port);
    if (other !== undefined) {
      throw new Failure(
        `${use.owner} and ${other.owner} would both listen on port ${use.port}: set ${use.setting} or ${other.setting} to another one.`,
      );
    }
    seen.set(use.port, use);
  }
  const tried = await Promise.all(uses.map(async (use) => ({ ...use, fault: await listenFault(use.port) })));
  const forbidden = tried.find(({ fault }) => fault !== undefined && fault !== 'EADDRINUSE');
  if (forbidden !== undefined) {
    const { port, owner, setting, fault } = forbidden;
    throw new Failure(`${owner} cannot listen on port ${port} (${fault}): set ${setting} to another one.`);
  }
  const taken = tried.filter(({ fault }) => fault !== undefined);
  if (taken.length > 0) throw new Failure(complaintAbout(taken));
}

/** @param {PortUse[]} taken at least one */
function complaintAbout(taken) {
  const ports = taken.map(({ port, owner }) => `${port} for ${owner}`).join(', ');
  const settings = [...new Set(taken.map(({ setting }) => setting))].join(', ');
  return taken.length === 1
    ? `Port ${ports} is taken: end the program that listens there, or set ${settings} to a free port.`
    : `Ports ${ports} are taken: end the programs that listen there, or set ${settings} to free ports.`;
}

/**
 * @param {number} count
 * @returns {Promise<number[]>} ports that are free right now
 */
export async function findFreePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map((server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port);
  await Promise.all(servers.map(close));
  return ports;
}

/**
 * Free ports below the ephemeral range, so that a reconnecting client cannot take a stopped server's port.
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function findLastingPorts(count) {
  /** @type {Set<number>} */
  const ports = new Set();
  while (ports.size < count) {
    const port = randomInt(LOWEST_LASTING_PORT, HIGHEST_LASTING_PORT);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** @param {number} port */
async function isFree(port) {
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks again and again until the answer is yes. Throws {@link Failure} with `complaint` after `timeoutMs`.
 * @param {() => Promise<boolean>} question
 * @param {{ timeoutMs: number, complaint: string }} bound
 */
export async function until(question, { timeoutMs, complaint }) {
  const deadline = Date.now() + timeoutMs;
  while (!(await question())) {
    if (Date.now() > deadline) throw new Failure(complaint);
    await delay(POLL_INTERVAL_MS);
  }
}

/**
 * @param {{ host: string, port: number }} address
 * @returns {Promise<boolean>} whether a server accepts connections there
 */
export function answers({ host, port }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PROBE_TIMEOUT_MS });
    /** @param {boolean} answer */
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => settle(false));
  });
}

/**
 * Sends a request and reads the answer, both prefixed with their size in four bytes, like Kafka.
 * @param {{ host: string, port: number }} address
 * @param {Buffer} request
 * @returns {Promise<Buffer | undefined>} the answer without its size; undefined when none comes in time
 */
export function exchange({ host, port }, request) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PROBE_TIMEOUT_MS });
    let received = Buffer.alloc(0);
    /** @param {Buffer | undefined} answer */
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(request));
    socket.on('data', (/** @type {Buffer} */ chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 4) return;
      const end = 4 + received.readInt32BE(0);
      if (received.length >= end) settle(received.subarray(4, end));
    });
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => settle(undefined));
  });
}

/**
 * @param {number} port
 * @returns {Promise<string | undefined>} the code of the error if nothing can listen there
 */
async function listenFault(port) {
  try {
    await close(await listenSoon(port));
    return undefined;
  } catch (error) {
    return String(/** @type {NodeJS.ErrnoException} */ (error).code);
  }
}

/**
 * A program that was stopped just now may keep its port for a moment longer than its process.
 * @param {number} port
 */
async function listenSoon(port) {
  const deadline = Date.now() + RELEASE_TIMEOUT_MS;
  for (;;) {
    try {
      return await listen(port);
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== 'EADDRINUSE' || Date.now() > deadline) throw error;
      await delay(POLL_INTERVAL_MS);
    }
  }
}

/** @param {number} port */
async function listen(port) {
  const server = createServer();
  server.listen(port);
  await once(server, 'listening');
  return server;
}

/** @param {import('node:net').Server} server */
async function close(server) {
  server.close();
  await once(server, 'close');
}
