/** Types for kafkajs' inner modules, limited to what we use. `kafkajs-version.ts` pins the version. */
declare module 'kafkajs/src/network/requestQueue' {
  interface SocketRequest {
    /** Epoch ms; null before it is sent. */
    readonly sentAt: number | null;
    readonly requestTimeout: number;
    timeoutRequest(): void;
  }
  const RequestQueue: {
    prototype: {
      pending: readonly unknown[];
      readonly inflight: ReadonlyMap<number, SocketRequest>;
      readonly enforceRequestTimeout: boolean;
      requestTimeoutIntervalId: NodeJS.Timeout;
      isConnected(): boolean;
      destroy(): void;
      scheduleCheckPendingRequests(): void;
      scheduleRequestTimeoutCheck(): void;
    };
  };
  export default RequestQueue;
}

/** Patched by `fresh-connection.ts`. */
declare module 'kafkajs/src/network/connection' {
  import type { Socket } from 'node:net';
  import type ConnectionPool from 'kafkajs/src/network/connectionPool';

  export interface InnerConnection {
    /** Absent before the first connect. */
    readonly socket?: Socket;
    isConnected(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
    send: ConnectionPool['send'];
  }
  const Connection: {
    new (options: ConstructorParameters<typeof ConnectionPool>[0]): InnerConnection;
    prototype: InnerConnection;
  };
  export default Connection;
}

declare module 'kafkajs/src/network/connectionPool' {
  import type { ISocketFactory, Mechanism } from 'kafkajs';

  export interface InnerLogger extends Record<'debug' | 'info' | 'warn' | 'error', (message: string) => void> {
    namespace(): InnerLogger;
  }
  class ConnectionPool {
    constructor(options: {
      host: string;
      port: number;
      clientId: string;
      sasl?: Mechanism;
      socketFactory: ISocketFactory;
      connectionTimeout: number;
      requestTimeout: number;
      enforceRequestTimeout: boolean;
      logger: InnerLogger;
    });
    isConnected(): boolean;
    /** The first of its two connections. */
    getConnection(): Promise<unknown>;
    /** Which of them takes a request. */
    getConnectionByRequest: (exchange: object) => Promise<unknown>;
    /** Resolves with the result of `parse`. */
    send<T>(exchange: {
      request: unknown;
      response: { decode: unknown; parse: (decoded: T) => Promise<T> };
    }): Promise<T>;
  }
  export default ConnectionPool;
}

declare module 'kafkajs/src/broker' {
  import type ConnectionPool from 'kafkajs/src/network/connectionPool';

  class Broker {
    constructor(options: {
      connectionPool: ConnectionPool;
      logger: ConstructorParameters<typeof ConnectionPool>[0]['logger'];
    });
    isConnected(): boolean;
    /** By API key, once it is connected. */
    readonly versions: Readonly<Record<number, { readonly maxVersion: number }>> | null;
    /** Connects and negotiates request versions. */
    connect(): Promise<void>;
    /** Uses the newest version that both sides support. */
    lookupRequest(
      apiKey: number,
      definitions: unknown,
    ): (args: object) => { request: unknown; response: { decode: unknown } };
  }
  export default Broker;
}

declare module 'kafkajs/src/broker/saslAuthenticator/scram512' {
  import type { AuthenticationProviderArgs, Authenticator } from 'kafkajs';

  export default function scram512(user: {
    username: string;
    password: string;
  }): (connection: AuthenticationProviderArgs) => Authenticator;
}

declare module 'kafkajs/src/protocol/requests' {
  /** A request of one version, and how to read its response. */
  export type Exchange = (args: object) => {
    request: { encode: () => Promise<{ buf: Buffer; buffer: Buffer }> };
    response: { decode: (payload: Buffer) => Promise<unknown>; parse: (decoded: never) => Promise<unknown> };
    requestTimeout?: number;
  };
  export interface RequestDefinition {
    readonly versions: readonly string[];
    protocol: (choice: { version: number }) => Exchange;
  }
  export const requests: Readonly<Record<'Fetch' | 'GroupCoordinator' | 'Metadata' | 'Produce', RequestDefinition>>;
}

declare module 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages' {
  import type { KafkaMessage } from 'kafkajs';
  import type Decoder from 'kafkajs/src/protocol/decoder';

  /** Reads the size of the messages, and the messages. */
  export default function decodeMessages(decoder: Decoder): Promise<KafkaMessage[]>;
}

declare module 'kafkajs/src/protocol/recordBatch/crc32C' {
  export default function crc32C(bytes: Buffer): number;
}

declare module 'kafkajs/src/protocol/requests/apiKeys' {
  const apiKeys: Readonly<Record<'Fetch' | 'GroupCoordinator' | 'Metadata' | 'Produce', number>>;
  export default apiKeys;
}

declare module 'kafkajs/src/protocol/encoder' {
  class Encoder {
    writeInt8(value: number): this;
    writeInt32(value: number): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string): this;
    writeUVarIntBytes(value: Buffer): this;
    writeUVarIntArray(array: readonly Encoder[]): this;
  }
  export default Encoder;
}

declare module 'kafkajs/src/protocol/decoder' {
  class Decoder {
    constructor(buffer: Buffer);
    readInt16(): number;
    readInt32(): number;
    readUVarIntString(): string | null;
    readUVarIntArray<T>(reader: (decoder: Decoder) => T): T[] | null;
    readTaggedFields(): unknown;
  }
  export default Decoder;
}

declare module 'kafkajs/src/protocol/error' {
  export const errorCodes: readonly { readonly type: string; readonly code: number }[];
  export function createErrorFromCode(code: number): Error;
}

/** A consumer's membership in its group, patched by `steady-consumer.ts`. */
declare module 'kafkajs/src/consumer/consumerGroup' {
  import type { Batch, Cluster } from 'kafkajs';

  class ConsumerGroup {
    readonly cluster: Cluster;
    readonly generationId: number | null;
    readonly maxWaitTime: number;
    /** Of the last acknowledged heartbeat, epoch ms. */
    lastRequest: number;
    fetch(nodeId: string): Promise<Batch[]>;
    heartbeat(options: { interval: number }): Promise<void>;
    joinAndSync(): Promise<void>;
    recoverFromFetch(error: unknown): Promise<void>;
  }
  export default ConsumerGroup;
}
