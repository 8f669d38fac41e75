import dns from 'node:dns';
import { connectMongo } from './connection';

jest.mock('node:dns', () => ({ ...jest.requireActual<typeof dns>('node:dns'), lookup: jest.fn() }));

test('a name that nobody resolves is looked up once, however many connections need it', async () => {
  const uri = 'mongodb://db.test:27017,db.test:27018,db.test:27019/?replicaSet=rs0';
  await expect(connectMongo({ uri, database: 'test' })).rejects.toThrow('timed out');
  expect(jest.mocked(dns.lookup).mock.calls.map(([hostname]) => hostname)).toEqual(['db.test']);
});
