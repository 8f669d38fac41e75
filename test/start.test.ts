import { callScript } from './support/call-script';

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
