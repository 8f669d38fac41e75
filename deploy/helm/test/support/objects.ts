/** What the tests read of Kubernetes' objects. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

type Labels = Record<string, string>;
export interface Selector {
  matchLabels?: Labels;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

interface Items {
  items?: { key: string; path: string }[];
}

export interface Volume {
  name: string;
  secret?: { secretName: string } & Items;
  configMap?: { name: string } & Items;
  emptyDir?: { sizeLimit: string };
  persistentVolumeClaim?: { claimName: string };
}

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  resources: Record<'requests' | 'limits', { cpu?: string; memory: string }>;
  securityContext: Record<string, unknown>;
  volumeMounts: VolumeMount[];
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: Record<string, unknown>;
  topologySpreadConstraints?: { topologyKey: string; whenUnsatisfiable: string; labelSelector: Selector }[];
  tolerations?: unknown[];
  affinity?: unknown;
  dnsConfig?: unknown;
  hostAliases?: unknown[];
  containers: [Container];
  volumes: Volume[];
}

export interface Workload extends KubernetesObject {
  spec: {
    replicas?: number;
    activeDeadlineSeconds?: number;
    strategy: { rollingUpdate: { maxUnavailable: number; maxSurge: number } };
    selector: Selector;
    template: { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec };
  };
}

export interface CronJob extends KubernetesObject {
  spec: { schedule: string; suspend?: boolean; concurrencyPolicy: string; jobTemplate: Pick<Workload, 'spec'> };
}

export interface ConfigMap extends KubernetesObject {
  data: Record<string, string>;
}

export interface Service extends KubernetesObject {
  spec: {
    type: string;
    clusterIP?: 'None';
    publishNotReadyAddresses?: boolean;
    ipFamilyPolicy?: string;
    ipFamilies?: string[];
    selector: Labels;
    ports: { name: string; port: number; targetPort: string }[];
  };
}

export interface Ingress extends KubernetesObject {
  spec: {
    tls?: { hosts: string[]; secretName?: string }[];
    rules: { host: string; http: { paths: { path: string; backend: { service: { name: string } } }[] } }[];
  };
}

export interface DisruptionBudget extends KubernetesObject {
  spec: { maxUnavailable: number; selector: Selector };
}

export interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface PolicyRule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: number; protocol: string }[];
}

export interface NetworkPolicy extends KubernetesObject {
  spec: { podSelector: Selector; policyTypes: string[]; ingress: PolicyRule[]; egress: PolicyRule[] };
}

interface ScalingRules {
  stabilizationWindowSeconds: number;
  policies: { type: 'Pods' | 'Percent'; value: number; periodSeconds: number }[];
}

export interface ScalingBehavior {
  scaleUp: ScalingRules;
  scaleDown: ScalingRules;
}

export interface Trigger {
  type: string;
  metricType: 'Value' | 'AverageValue';
  metadata: Record<string, string>;
  authenticationRef?: { name: string };
}

export interface ScaledObject extends KubernetesObject {
  spec: {
    scaleTargetRef: { name: string };
    minReplicaCount: number;
    maxReplicaCount: number;
    advanced: { horizontalPodAutoscalerConfig: { behavior: ScalingBehavior } };
    triggers: Trigger[];
  };
}

export interface Autoscaler extends KubernetesObject {
  spec: {
    scaleTargetRef: { name: string };
    minReplicas: number;
    maxReplicas: number;
    metrics: { type: string; resource: { name: string; target: { type: string; averageValue: string } } }[];
    behavior: ScalingBehavior;
  };
}

export interface HttpRoute extends KubernetesObject {
  spec: {
    parentRefs: unknown[];
    hostnames: string[];
    rules: { matches: { path: { value: string } }[]; backendRefs: { name: string; port: number }[] }[];
  };
}

export interface ServiceMonitor extends KubernetesObject {
  spec: { selector: Selector; endpoints: { port: string; scheme?: string; relabelings: Record<string, unknown>[] }[] };
}

export interface PrometheusRule extends KubernetesObject {
  spec: { groups: unknown[] };
}

interface Kinds {
  HTTPRoute: HttpRoute;
  ServiceMonitor: ServiceMonitor;
  PrometheusRule: PrometheusRule;
  Deployment: Workload;
  Job: Workload;
  CronJob: CronJob;
  ConfigMap: ConfigMap;
  Service: Service;
  Ingress: Ingress;
  PodDisruptionBudget: DisruptionBudget;
  NetworkPolicy: NetworkPolicy;
  ScaledObject: ScaledObject;
  HorizontalPodAutoscaler: Autoscaler;
}

export function ofKind<Kind extends keyof Kinds>(objects: readonly KubernetesObject[], kind: Kind): Kinds[Kind][] {
  return objects.filter((object) => object.kind === kind) as Kinds[Kind][];
}

/** @throws Error if there is none, or several */
export function named<Kind extends keyof Kinds>(
  objects: readonly KubernetesObject[],
  kind: Kind,
  name: string,
): Kinds[Kind] {
  const [found, ...more] = ofKind(objects, kind).filter(({ metadata }) => metadata.name === name);
  if (found === undefined || more.length > 0) throw new Error(`there is not one ${kind} named ${name}`);
  return found;
}

/** Everything that makes pods. */
export function workloadsOf(objects: readonly KubernetesObject[]): Workload[] {
  const scheduled = ofKind(objects, 'CronJob').map(({ spec, ...object }) => ({ ...object, ...spec.jobTemplate }));
  return [...ofKind(objects, 'Deployment'), ...ofKind(objects, 'Job'), ...scheduled];
}
