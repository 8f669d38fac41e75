import type { ServiceDeclaration } from './services';
import { services } from './services';

export type ServiceName = (typeof services)[keyof typeof services]['name'];

/**
 * Whoever opens or takes connections in a deployment. `operations` is every command line and the provisioning.
 * `outside` is whatever the deployment does not run: merchants, browsers, acquirers, banks, directory servers.
 */
export type Party =
  ServiceName | 'operations' | 'kafka' | 'mongodb' | 'otel-collector' | 'prometheus' | 'grafana' | 'outside';

/** Who may open connections to one port. */
export interface Edge {
  /** Edges that share a name share a network in Compose. */
  readonly network: string;
  readonly to: Party;
  /** Undefined outside, where each counterpart chooses its own. */
  readonly port?: number;
  readonly from: readonly Party[];
  /**
   * Only in some deployments. `development`: where production refuses the port. `sandbox`: where the simulator plays the
   * counterparts, which are `outside` elsewhere; `closed-sandbox`: where it also asks for identities, on a port of its
   * own. `counterparts`: where it does not play them. `kms`: with `KEY_PROVIDER=aws-kms`.
   */
  readonly only?: 'development' | 'sandbox' | 'closed-sandbox' | 'counterparts' | 'kms';
}

const { apiEdge, cardProcessing, threeds, payout, callbackDispatcher, simulator } = services;

const everyService = Object.values(services).map(({ name }) => name);
const onKafka = Object.values<ServiceDeclaration & { name: ServiceName }>(services)
  .filter(({ consumes, produces }) => consumes.length + produces.length > 0)
  .map(({ name }) => name);

/** `OPS_PORT` of each service in a deployment: health and metrics. */
export const opsPorts: Readonly<Record<ServiceName, number>> = {
  'api-edge': 9100,
  'card-processing': 9101,
  simulator: 9102,
  threeds: 9103,
  'callback-dispatcher': 9104,
  payout: 9105,
  'auth-expiry': 9106,
};

/** `SIMULATOR_INTERNAL_PORT` in a deployment: the counterparts, for callers that the simulator knows. */
const COUNTERPARTS_PORT = 9204;

const CALLERS_OF_COUNTERPARTS = [cardProcessing.name, threeds.name, payout.name] as const;
/** The edge reads its ledger. */
const CALLERS_OF_SIMULATOR = [...CALLERS_OF_COUNTERPARTS, apiEdge.name] as const;

/**
 * Every connection that a deployment allows; all others are refused. Compose makes a network of each name here, and the
 * Helm chart makes NetworkPolicies. Ports are the defaults of the settings.
 */
export const edges: readonly Edge[] = [
  // Merchants and browsers.
  { network: 'merchants', to: apiEdge.name, port: 8080, from: ['outside'] },
  // The API reference.
  { network: 'merchants', to: apiEdge.name, port: 8089, from: ['outside'], only: 'development' },
  { network: 'pages', to: threeds.name, port: 8081, from: ['outside'] },
  { network: 'issuer-pages', to: simulator.name, port: 8090, from: ['outside'], only: 'sandbox' },
  { network: 'callbacks', to: 'outside', from: [callbackDispatcher.name] },
  // Acquirers, banks, directory servers, and the results that the last send back.
  { network: 'counterparts', to: simulator.name, port: 8090, from: CALLERS_OF_SIMULATOR, only: 'development' },
  {
    network: 'counterparts',
    to: simulator.name,
    port: COUNTERPARTS_PORT,
    from: CALLERS_OF_SIMULATOR,
    only: 'closed-sandbox',
  },
  { network: 'counterparts', to: 'outside', from: CALLERS_OF_COUNTERPARTS, only: 'counterparts' },
  { network: 'results', to: threeds.name, port: 8081, from: [simulator.name], only: 'sandbox' },
  // Queries and commands of operators.
  { network: 'card-queries', to: cardProcessing.name, port: 9201, from: [apiEdge.name, callbackDispatcher.name] },
  {
    network: 'payout-queries',
    to: payout.name,
    port: 9203,
    from: [apiEdge.name, callbackDispatcher.name, 'operations'],
  },
  { network: 'callback-admin', to: callbackDispatcher.name, port: 9202, from: [apiEdge.name, 'operations'] },
  // Servers.
  { network: 'kafka', to: 'kafka', port: 9092, from: [...onKafka, 'operations', 'kafka'] },
  { network: 'kafka-quorum', to: 'kafka', port: 9093, from: ['kafka'] },
  { network: 'mongodb', to: 'mongodb', port: 27017, from: [...everyService, 'operations', 'mongodb'] },
  {
    network: 'kms',
    to: 'outside',
    port: 443,
    from: [apiEdge.name, cardProcessing.name, threeds.name, callbackDispatcher.name, 'operations'],
    only: 'kms',
  },
  // Whoever watches. In one network for all, services would reach each other's metrics.
  ...everyService.map((to) => ({
    network: `${to}-metrics`,
    to,
    port: opsPorts[to],
    from: ['prometheus', 'operations'] as const,
  })),
  { network: 'traces', to: 'otel-collector', port: 4318, from: onKafka },
  { network: 'series', to: 'prometheus', port: 9090, from: ['grafana'] },
  { network: 'dashboards', to: 'grafana', port: 3_000, from: ['outside'] },
];
