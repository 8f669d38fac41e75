import { Type } from '@sinclair/typebox';
import { authorityFile, calledAddress } from './called-address';
import type { ProductionRule } from './production';
import { secretText } from './secret-settings';

/** Settings of services that call acquirers, banks or merchants; ADR 0090. */
export const outboundProxySettings = {
  OUTBOUND_PROXY_URL: Type.Optional(
    calledAddress({
      whose: 'proxy',
      pattern: '^https?://[^/?#@\\s]+$',
      description:
        'Forward proxy through which this service calls [whoever is outside](operator.md#a-forward-proxy); unset, it calls them directly',
    }),
  ),
  OUTBOUND_PROXY_CA_FILE: authorityFile('that proxy'),
  OUTBOUND_PROXY_CREDENTIALS: Type.Optional(
    secretText({
      pattern: '^[^:\\x00-\\x1f\\x7f]+:[^\\x00-\\x1f\\x7f]+$',
      maxLength: 1_000,
      description: 'User and password for that proxy, as `user:password`',
    }),
  ),
  OUTBOUND_PROXY_EXCEPT: Type.String({
    default: '',
    pattern: '^[A-Za-z0-9.:_, -]*$',
    description:
      'Hosts of counterparts that are called directly all the same, comma-separated: those in your own network',
  }),
};

export interface OutboundProxyConfig {
  OUTBOUND_PROXY_URL?: string;
  OUTBOUND_PROXY_CA_FILE?: string;
  OUTBOUND_PROXY_CREDENTIALS?: string;
  OUTBOUND_PROXY_EXCEPT: string;
}

/**
 * What goes through the tunnel has TLS of its own, so the proxy may be asked in clear. Its password may not.
 */
export const proxyPasswordIsEncrypted: ProductionRule<OutboundProxyConfig> = (config) => {
  const { OUTBOUND_PROXY_URL: url, OUTBOUND_PROXY_CREDENTIALS: credentials } = config;
  return url === undefined || credentials === undefined || url.startsWith('https:')
    ? undefined
    : `OUTBOUND_PROXY_URL is ${url}, which is not HTTPS, and OUTBOUND_PROXY_CREDENTIALS would be sent there in clear.`;
};
