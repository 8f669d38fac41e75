import type { Container, PodSpec } from './objects';

/** Kinds of volume that the SCC allows. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** Of a project, as OpenShift writes them into its annotations: nobody knows them before. */
export interface ProjectIds {
  firstUser: number;
  users: number;
}

/**
 * Why OpenShift's SCC `restricted-v2` would not admit a pod; empty if it would. From the SCC as OpenShift 4.19 documents
 * it: MustRunAsRange for users, MustRunAs for fsGroup and SELinux, no privileges, nothing of the host.
 */
export function refusalsOfRestrictedV2(pod: PodSpec & Record<string, unknown>, ids: ProjectIds): string[] {
  const refusals: string[] = [];
  const isOfProject = (id: unknown): boolean =>
    id === undefined || (typeof id === 'number' && id >= ids.firstUser && id < ids.firstUser + ids.users);
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) if (pod[name] === true) refusals.push(name);
  const { containers, securityContext, volumes } = pod;
  for (const context of [securityContext, ...containers.map((container) => container.securityContext)]) {
    if (!isOfProject(context['runAsUser'])) refusals.push(`runAsUser ${String(context['runAsUser'])}`);
    if (!isOfProject(context['fsGroup'])) refusals.push(`fsGroup ${String(context['fsGroup'])}`);
    const profile = (context['seccompProfile'] as { type?: string } | undefined)?.type;
    if (profile !== undefined && profile !== 'RuntimeDefault') refusals.push(`seccompProfile ${profile}`);
    for (const name of ['seLinuxOptions', 'supplementalGroups', 'sysctls']) if (name in context) refusals.push(name);
  }
  refusals.push(...containers.flatMap(refusalsOfContainer));
  const kinds = volumes.flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  return [...refusals, ...kinds.filter((kind) => !VOLUMES.includes(kind)).map((kind) => `volume ${kind}`)];
}

function refusalsOfContainer({ name, securityContext: own, ports = [] }: Container): string[] {
  const { add = [], drop = [] } = (own['capabilities'] ?? {}) as { add?: string[]; drop?: string[] };
  const faults: Record<string, boolean> = {
    privileged: own['privileged'] === true,
    escalation: own['allowPrivilegeEscalation'] !== false,
    capabilities: !drop.includes('ALL') || add.some((one) => one !== 'NET_BIND_SERVICE'),
    hostPort: ports.some((port) => 'hostPort' in port),
  };
  return Object.keys(faults)
    .filter((fault) => faults[fault])
    .map((fault) => `${fault} of ${name}`);
}
