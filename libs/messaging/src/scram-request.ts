import Decoder from 'kafkajs/src/protocol/decoder';
import Encoder from 'kafkajs/src/protocol/encoder';

/** A user of Kafka as its brokers keep it: never with the password. */
export interface ScramUser {
  readonly name: string;
  readonly iterations: number;
  readonly salt: Buffer;
  readonly saltedPassword: Buffer;
}

export interface ScramAnswer {
  readonly user: string;
  /** Kafka protocol code; 0 when the user has been stored. */
  readonly errorCode: number;
}

const SCRAM_SHA_512 = 2;
/** AlterUserScramCredentials. */
const API_KEY = 51;
const API_VERSION = 0;
/** Newer requests may end each structure with further fields; there are none. */
const NO_TAGS = 0;

/** AlterUserScramCredentials, which kafkajs lacks, in the form of its own requests. */
export const alterScramUsers = {
  apiKey: API_KEY,
  definitions: {
    versions: [API_VERSION],
    protocol:
      () =>
      ({ users }: { users: readonly ScramUser[] }) => ({
        request: {
          apiKey: API_KEY,
          apiVersion: API_VERSION,
          apiName: 'AlterUserScramCredentials',
          encode: async () =>
            new Encoder()
              // kafkajs writes the header of older requests, which ends before the tags.
              .writeUVarInt(NO_TAGS)
              .writeUVarIntArray([])
              .writeUVarIntArray(users.map(encodeUser))
              .writeUVarInt(NO_TAGS),
        },
        response: { decode: async (data: Buffer): Promise<ScramAnswer[]> => decodeAnswers(new Decoder(data)) },
      }),
  },
} as const;

function encodeUser({ name, iterations, salt, saltedPassword }: ScramUser): Encoder {
  return new Encoder()
    .writeUVarIntString(name)
    .writeInt8(SCRAM_SHA_512)
    .writeInt32(iterations)
    .writeUVarIntBytes(salt)
    .writeUVarIntBytes(saltedPassword)
    .writeUVarInt(NO_TAGS);
}

function decodeAnswers(decoder: Decoder): ScramAnswer[] {
  // The tags of the header, and for how long Kafka has throttled.
  decoder.readTaggedFields();
  decoder.readInt32();
  const answers = decoder.readUVarIntArray((one) => {
    const answer = { user: one.readUVarIntString() ?? '', errorCode: one.readInt16() };
    // The message of the error, which repeats its code.
    one.readUVarIntString();
    one.readTaggedFields();
    return answer;
  });
  return answers ?? [];
}
