import { createRequire } from 'node:module';
import { MongoServerError } from 'mongodb';

const AUTHENTICATION_FAILED = 18;
const HANDSHAKE_ERROR = 'HandshakeError';
/** From a refused login to the next one at the same server: its user may be accepted again. */
const LOGIN_PAUSE_MS = 5_000;

interface PooledConnection {
  readonly generation: number;
  readonly closed: boolean;
}

type Done = (error?: Error, connection?: PooledConnection) => void;

interface PoolOptions {
  readonly maxConnecting: number;
  readonly maxIdleTimeMS: number;
}

interface Waiter {
  readonly cancelled: boolean;
  readonly checkoutTime: number;
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
}

/** What we use of the driver's connections to one server. */
interface DriverPool {
  options: PoolOptions;
  readonly poolState: 'paused' | 'ready' | 'closed';
  readonly generation: number;
  readonly connections: Iterable<PooledConnection> & { push(connection: PooledConnection): void };
  readonly checkedOut: Set<PooledConnection>;
  readonly waitQueue: { unshift(waiter: Waiter): void };
  createConnection(done: Done): void;
  processWaitQueue(): void;
}

interface DriverServer {
  readonly pool: DriverPool;
  handleError(error: unknown, connection?: PooledConnection): void;
}

const load = createRequire(__filename);
/** The driver exports neither. */
const { ConnectionPool } = load('mongodb/lib/cmap/connection_pool') as { ConnectionPool: { prototype: DriverPool } };
const { Server } = load('mongodb/lib/sdam/server') as { Server: { prototype: DriverServer } };

const { createConnection } = ConnectionPool.prototype;
const { handleError } = Server.prototype;
/** Pools whose last login was refused, with their own options. */
const refused = new WeakMap<DriverPool, PoolOptions>();

/** True if a server did not accept the user or the password of a new connection. */
export function isLoginRefusal(error: unknown): boolean {
  return (
    error instanceof MongoServerError && error.code === AUTHENTICATION_FAILED && error.hasErrorLabel(HANDSHAKE_ERROR)
  );
}

/** True while a connection that was accepted before is open. */
function works(pool: DriverPool): boolean {
  const isUsable = ({ generation, closed }: PooledConnection): boolean => generation === pool.generation && !closed;
  return [...pool.connections, ...pool.checkedOut].some(isUsable);
}

/**
 * Keeps the connections of a server that refuses a new one. The driver (7.8, as its specification asks) takes a refused
 * login for the loss of the server and closes all connections to it, so after a changed password one burst of requests
 * would end all requests. Without an open connection it may do so.
 */
Server.prototype.handleError = function keepWhatWorks(error, connection) {
  if (isLoginRefusal(error) && works(this.pool)) return;
  handleError.call(this, error, connection);
};

/** Whoever waits for a connection that is refused gets the next one that is free, within the time-out that it has anyway. */
ConnectionPool.prototype.createConnection = function connectOrShare(done) {
  createConnection.call(this, (error, connection) => {
    if (!isLoginRefusal(error) || !works(this)) return done(error, connection);
    pauseLogins(this);
    this.waitQueue.unshift(waiterFor(this, done));
    queueMicrotask(() => this.processWaitQueue());
  });
};

function waiterFor(pool: DriverPool, done: Done): Waiter {
  return {
    cancelled: false,
    checkoutTime: performance.now(),
    resolve(connection) {
      // `done` registers it again, or returns it to the pool if its caller waits no longer.
      pool.checkedOut.delete(connection);
      done(undefined, connection);
    },
    reject: (error) => done(error),
  };
}

/** Opens no connection for a while, and closes none for being idle: it could not be replaced. */
function pauseLogins(pool: DriverPool): void {
  if (refused.has(pool)) return;
  refused.set(pool, pool.options);
  pool.options = Object.freeze({ ...pool.options, maxConnecting: 0, maxIdleTimeMS: 0 });
  scheduleLogin(pool);
}

function scheduleLogin(pool: DriverPool): void {
  setTimeout(() => tryLogin(pool), LOGIN_PAUSE_MS).unref();
}

/** Ends the pause, unless the login is refused again. */
function tryLogin(pool: DriverPool): void {
  if (pool.poolState !== 'ready') return resumeLogins(pool);
  createConnection.call(pool, (error, connection) => {
    if (isLoginRefusal(error) && works(pool)) return scheduleLogin(pool);
    if (connection !== undefined) pool.connections.push(connection);
    resumeLogins(pool);
    queueMicrotask(() => pool.processWaitQueue());
  });
}

function resumeLogins(pool: DriverPool): void {
  pool.options = refused.get(pool) ?? pool.options;
  refused.delete(pool);
}
