export { openTracing } from './open-tracing';
export type { Tracing, TracingOptions } from './open-tracing';
