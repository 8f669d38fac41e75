import type { Autoscaler, ScaledObject, ScalingBehavior, Trigger } from './objects';

/** One metric with its target. `Value` is compared as it is; `AverageValue` is a total, shared among the replicas. */
export interface ScalingMetric {
  name: 'oldest-unhandled' | 'lag' | 'cpu';
  metricType: 'Value' | 'AverageValue';
  target: number;
}

export interface Scaling {
  min: number;
  max: number;
  metrics: readonly ScalingMetric[];
  behavior: ScalingBehavior;
}

/** How far from its target a metric may be (kube-controller-manager's default). */
const TOLERANCE = 0.1;

interface Change {
  atSeconds: number;
  /** Above 0: added. Below: removed. */
  replicas: number;
}

/**
 * A model of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), which KEDA makes of a ScaledObject. It has:
 * - for each metric ceil(total / target), or ceil(replicas * value / target), and no change within 10 % of the target;
 *   the largest proposal counts;
 * - the stabilization windows: no more is removed than what was proposed at any time in the window of scaling down, and
 *   no more is added than what was proposed at any time in that of scaling up;
 * - the policies: from what there was at the beginning of a period, at most so much is added or removed, and the policy
 *   that changes most counts;
 * - the bounds.
 *
 * It has no metrics that fail, no pods whose readiness counts, and no start with more or fewer replicas than the bounds.
 */
export function createAutoscaler({ min, max, metrics, behavior }: Scaling) {
  let proposals: { atSeconds: number; replicas: number }[] = [];
  const changes: Change[] = [];

  function proposalOf({ metricType, target }: ScalingMetric, value: number, current: number): number {
    const ratio = metricType === 'Value' ? value / target : value / (target * current);
    if (Math.abs(ratio - 1) <= TOLERANCE) return current;
    return Math.ceil(metricType === 'Value' ? ratio * current : value / target);
  }

  function stabilized(nowSeconds: number, proposed: number, current: number): number {
    const { scaleUp, scaleDown } = behavior;
    proposals.push({ atSeconds: nowSeconds, replicas: proposed });
    const since = (seconds: number) =>
      proposals.filter(({ atSeconds }) => atSeconds > nowSeconds - seconds).map(({ replicas }) => replicas);
    const least = Math.min(proposed, ...since(scaleUp.stabilizationWindowSeconds));
    const most = Math.max(proposed, ...since(scaleDown.stabilizationWindowSeconds));
    proposals = proposals.filter(({ atSeconds }) => atSeconds > nowSeconds - scaleDown.stabilizationWindowSeconds);
    return Math.min(Math.max(current, least), most);
  }

  /** What there was before the changes of the period that ends now. */
  function atStartOf(periodSeconds: number, nowSeconds: number, current: number): number {
    const recent = changes.filter(({ atSeconds }) => atSeconds > nowSeconds - periodSeconds);
    return recent.reduce((replicas, change) => replicas - change.replicas, current);
  }

  function limited(nowSeconds: number, wanted: number, current: number): number {
    const isUp = wanted > current;
    const sign = isUp ? 1 : -1;
    const limits = (isUp ? behavior.scaleUp : behavior.scaleDown).policies.map(({ type, value, periodSeconds }) => {
      const start = atStartOf(periodSeconds, nowSeconds, current);
      if (type === 'Pods') return start + sign * value;
      return isUp ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
    });
    if (isUp) return Math.min(wanted, max, Math.max(current, ...limits));
    return Math.max(wanted, min, Math.min(current, ...limits));
  }

  return {
    /** The replicas from now on. `valueOf`: the total of an `AverageValue`, or the `Value`. Call with growing times. */
    next(nowSeconds: number, current: number, valueOf: (metric: ScalingMetric['name']) => number): number {
      const proposed = Math.max(...metrics.map((metric) => proposalOf(metric, valueOf(metric.name), current)));
      const wanted = stabilized(nowSeconds, proposed, current);
      const replicas = wanted === current ? current : limited(nowSeconds, wanted, current);
      if (replicas !== current) changes.push({ atSeconds: nowSeconds, replicas: replicas - current });
      return replicas;
    },
  };
}

export function scalingOf({ spec }: ScaledObject): Scaling {
  const { behavior } = spec.advanced.horizontalPodAutoscalerConfig;
  return { min: spec.minReplicaCount, max: spec.maxReplicaCount, metrics: spec.triggers.map(metricOf), behavior };
}

export function scalingOfAutoscaler({ spec }: Autoscaler): Scaling {
  const metrics = spec.metrics.map(({ resource }): ScalingMetric => {
    const { type, averageValue } = resource.target;
    if (resource.name !== 'cpu' || type !== 'AverageValue')
      throw new Error(`not modelled: ${resource.name} by ${type}`);
    return { name: 'cpu', metricType: 'AverageValue', target: coresOf(averageValue) };
  });
  return { min: spec.minReplicas, max: spec.maxReplicas, metrics, behavior: spec.behavior };
}

function metricOf({ type, metricType, metadata }: Trigger): ScalingMetric {
  switch (type) {
    case 'prometheus':
      return { name: 'oldest-unhandled', metricType, target: Number(metadata['threshold']) };
    case 'kafka':
      return { name: 'lag', metricType, target: Number(metadata['lagThreshold']) };
    case 'cpu':
      return { name: 'cpu', metricType, target: coresOf(metadata['value'] ?? '') };
    default:
      throw new Error(`not modelled: ${type}`);
  }
}

/** A quantity of Kubernetes: `700m` is 0.7. */
function coresOf(quantity: string): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) / 1_000 : Number(quantity);
}
