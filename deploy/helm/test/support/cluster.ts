import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NAMESPACE } from './chart';
import type { Workload } from './objects';

export interface Cluster {
  readonly url: string;
  close(): Promise<void>;
}

const DEPLOYMENTS = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'apps/v1',
  resources: [
    { name: 'deployments', singularName: 'deployment', namespaced: true, kind: 'Deployment', verbs: ['get'] },
  ],
};
const NOT_FOUND = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

/** Plays the API of a Kubernetes cluster that has these Deployments. */
export async function playCluster(deployments: readonly Workload[]): Promise<Cluster> {
  const found = new Map<string, object>([
    ['/apis/apps/v1', DEPLOYMENTS],
    ...deployments.map(
      (deployment) =>
        [`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${deployment.metadata.name}`, deployment] as const,
    ),
  ]);
  const server = createServer(({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    const object = found.get(path);
    response.writeHead(object === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(object ?? NOT_FOUND));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
