/** The internal port of a service. */
export interface ScrapeTarget {
  readonly service: string;
  readonly port: number;
}

export interface ScrapeOptions {
  readonly rulesFile: string;
  /** Holds the token of a caller of kind `metrics`. */
  readonly tokenFile: string;
}

/**
 * Settings of Prometheus. A name of a service stands for all of its replicas, as in Compose's DNS and in that of a headless
 * Service of Kubernetes. `up` gets the label `service`, which all other metrics have by themselves.
 */
export function prometheusFile(targets: readonly ScrapeTarget[], { rulesFile, tokenFile }: ScrapeOptions) {
  return {
    global: { scrape_interval: '15s', scrape_timeout: '10s', evaluation_interval: '15s' },
    rule_files: [rulesFile],
    scrape_configs: [
      {
        job_name: 'payment-gateway',
        honor_labels: true,
        authorization: { credentials_file: tokenFile },
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
