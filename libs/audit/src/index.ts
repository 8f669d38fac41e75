export * from './actions';
export { createHeadAnchors } from './anchors';
export type { Entry, Operator, Phase } from './entry';
export * from './audit-log';
export * from './open-audit';
export * from './operators';
export * from './settings';
