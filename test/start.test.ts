import { once } from 'node:events';
import { createServer } from 'node:net';
import { callScript } from './support/call-script';
import { freePort } from './support/free-port';

test.each(['production', 'staging', ''])(
  'npm start is for development, also where NODE_ENV is %j',
  async (NODE_ENV) => {
    const ports = await callScript('gateway/settings.mjs', 'gatewayPorts', {});
    const servers = { kafkaBrokers: 'kafka:1', mongodbUri: 'mongodb://db' };
    const parts = { env: { NODE_ENV }, ports, servers };
    expect(await callScript('gateway/settings.mjs', 'gatewayEnvironment', parts)).toMatchObject({
      NODE_ENV: 'development',
      KAFKA_BROKERS: 'kafka:1',
    });
  },
);

test('npm start names all ports that are taken, in one sentence', async () => {
  const [first, second, free] = [await freePort(), await freePort(), await freePort()];
  const takers = [first, second].map((port) => createServer().listen(port));
  await Promise.all(takers.map((taker) => once(taker, 'listening')));
  const uses = [
    { owner: 'api-edge', setting: 'PORT', port: first },
    { owner: 'api-edge (internal)', setting: 'OPS_PORT', port: free },
    { owner: 'Kafka', setting: 'KAFKA_PORT', port: second },
  ];
  const complaints = [
    await callScript('servers/ports.mjs', 'requireFreePorts', uses),
    await callScript('servers/ports.mjs', 'requireFreePorts', uses.slice(1)),
    await callScript('servers/ports.mjs', 'requireFreePorts', uses.slice(1, 2)),
  ];
  for (const taker of takers) taker.close();
  expect(complaints).toEqual([
    {
      failure: `Ports ${first} for api-edge, ${second} for Kafka are taken: end the programs that listen there, or set PORT, KAFKA_PORT to free ports.`,
    },
    {
      failure: `Port ${second} for Kafka is taken: end the program that listens there, or set KAFKA_PORT to a free port.`,
    },
    null,
  ]);
});
