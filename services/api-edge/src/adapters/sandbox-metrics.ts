import type { Registry } from '@gateway/service-kit';
import { Counter, Gauge } from '@gateway/service-kit';
import type { SandboxQuota } from '../application/sandbox-quota';
import { SANDBOX_LIMITS } from '../application/sandbox-quota';

/** The same quota, with its figures. @param inAll records of all accounts that are kept at most */
export function measuredSandbox(quota: SandboxQuota, inAll: number, metrics: Registry): SandboxQuota {
  const refused = new Counter({
    name: 'gateway_sandbox_refused_total',
    help: 'Requests in XTS refused with 1007, by limit: the quota of their account, or the disk of the sandbox',
    labelNames: ['limit'],
    registers: [metrics],
  });
  for (const limit of SANDBOX_LIMITS) refused.inc({ limit }, 0);
  new Gauge({
    name: 'gateway_sandbox_disk_ratio',
    help: 'Estimated disk of the records in XTS that are kept, as a part of SANDBOX_DISK_GIB; from 1 on, XTS is refused',
    registers: [metrics],
    collect() {
      this.set(inAll === 0 ? 1 : quota.total() / inAll);
    },
  });
  return {
    ...quota,
    refusal(merchantAccount) {
      const refusal = quota.refusal(merchantAccount);
      if (refusal !== undefined) refused.inc({ limit: refusal.limit });
      return refusal;
    },
  };
}
