import { randomBytes } from 'node:crypto';
import { connectMongo } from '../src';

const LONGER_THAN_A_SILENT_SOCKET_MS = 11_000;

test('the socket waits for a call that may take long', async () => {
  const mongo = await connectMongo({
    uri: process.env['TEST_MONGODB_URI'] as string,
    database: `connection_${randomBytes(5).toString('hex')}`,
    longestCallMs: LONGER_THAN_A_SILENT_SOCKET_MS,
  });
  try {
    const things = mongo.collection<{ _id: string }>('things');
    await things.insertOne({ _id: 'thing' });
    const slowly = { $where: `sleep(${LONGER_THAN_A_SILENT_SOCKET_MS}) || true` };
    expect(await things.findOne(slowly)).toEqual({ _id: 'thing' });
  } finally {
    await mongo.mongoose.dropDatabase();
    await mongo.close();
  }
});
