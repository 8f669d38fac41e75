import { RUNBOOK_LABEL, RUNBOOK_URL } from './rules';

/** The internal port of a service. */
export interface ScrapeTarget {
  readonly service: string;
  readonly port: number;
}

export interface ScrapeOptions {
  readonly rulesFile: string;
  /** Holds the token of a caller of kind `metrics`. */
  readonly tokenFile: string;
  /** TLS on internal ports; without it plain HTTP. */
  readonly tls?: { readonly authorityFile: string; readonly serverName: string };
}

const GLOBAL = {
  scrape_interval: '15s',
  scrape_timeout: '10s',
  evaluation_interval: '15s',
  // Where alerts find their paragraphs: write the address of your copy.
  external_labels: { [RUNBOOK_LABEL]: RUNBOOK_URL },
};
/** The name and port of Alertmanager under Compose. */
const ALERTMANAGER = 'alertmanager:9093';

/** What all ways to find replicas share. All metrics have the label `service` by themselves. */
const job = ({ tokenFile, tls }: ScrapeOptions) => ({
  job_name: 'payment-gateway',
  honor_labels: true,
  ...(tls && {
    scheme: 'https',
    // Replicas are found by address, which is in no certificate.
    tls_config: { ca_file: tls.authorityFile, server_name: tls.serverName },
  }),
  authorization: { credentials_file: tokenFile },
});

/** Where the Helm chart is installed, and what it gives the pods of services. */
const NAMESPACE = 'payments';
const LABEL_OF_CHART = 'app.kubernetes.io/part-of=payment-gateway';
const POD = '__meta_kubernetes_pod';

/**
 * Settings of a Prometheus on Kubernetes, which asks its API for the pods of the Helm chart. Pods of Jobs have no port
 * named `ops`. `up` gets the label `service`; `namespace` and `pod` say where a replica is.
 */
export function kubernetesFile(options: ScrapeOptions) {
  return {
    global: GLOBAL,
    rule_files: [options.rulesFile],
    scrape_configs: [
      {
        ...job(options),
        kubernetes_sd_configs: [
          {
            role: 'pod',
            namespaces: { names: [NAMESPACE] },
            selectors: [{ role: 'pod', label: LABEL_OF_CHART }],
          },
        ],
        relabel_configs: [
          { source_labels: [`${POD}_container_port_name`], regex: 'ops', action: 'keep' },
          { source_labels: [`${POD}_phase`], regex: 'Succeeded|Failed', action: 'drop' },
          { source_labels: [`${POD}_label_app_kubernetes_io_name`], target_label: 'service' },
          { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
          { source_labels: [`${POD}_name`], target_label: 'pod' },
        ],
      },
    ],
  };
}

/**
 * Settings of Prometheus. A name of a service stands for all of its replicas, as in Compose's DNS and in that of a headless
 * Service of Kubernetes. `up` gets the label `service`, which all other metrics have by themselves.
 */
export function prometheusFile(targets: readonly ScrapeTarget[], options: ScrapeOptions) {
  return {
    global: GLOBAL,
    rule_files: [options.rulesFile],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [ALERTMANAGER] }] }] },
    scrape_configs: [
      {
        ...job(options),
        dns_sd_configs: targets.map(({ service, port }) => ({
          names: [service],
          type: 'A',
          port,
          refresh_interval: '15s',
        })),
        relabel_configs: [{ source_labels: ['__meta_dns_name'], target_label: 'service' }],
      },
    ],
  };
}
