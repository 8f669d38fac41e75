import { Type } from '@sinclair/typebox';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { ProductionRule } from './production';
import { textIn } from './production';

const SETTING = 'ALLOW_PLAIN_INTERNAL_PORTS';

/** For the time in which a running gateway changes over to TLS on its internal ports (ADR 0084). */
export const plainInternalPortSettings = {
  ALLOW_PLAIN_INTERNAL_PORTS: Type.Union([Type.Literal('no'), Type.Literal('yes')], {
    default: 'no',
    description:
      '`yes`, while a running gateway [changes over to TLS](operator.md#tls-on-internal-ports): internal ports also take HTTP, and production calls them by HTTP. `/about`, a metric, an alert and the doctor show it',
  }),
};

/** True while internal ports take plain HTTP beside HTTPS. */
export function allowsPlainInternalPorts(config: object): boolean {
  return textIn(config, SETTING) === 'yes';
}

/** A rule about internal ports that this setting takes back. Settings without it keep the rule. */
export function unlessPlainIsAllowed<Config extends object>(rule: ProductionRule<Config>): ProductionRule<Config> {
  return (config) => (allowsPlainInternalPorts(config) ? undefined : rule(config));
}

/** So that nobody forgets it. */
export function showPlainInternalPorts(metrics: Registry, exceptions: readonly string[]): void {
  new Gauge({
    name: 'gateway_plain_internal_ports',
    help: `1 while ${SETTING} lets internal ports be served and called without TLS, else 0`,
    registers: [metrics],
  }).set(Number(exceptions.includes(SETTING)));
}

/** The settings that take back a rule of production, for `/about`. */
export function exceptionsIn(config: object): string[] {
  return allowsPlainInternalPorts(config) ? [SETTING] : [];
}
