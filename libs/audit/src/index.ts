export * from './actions';
export type { SignAnchor } from './anchor-signature';
export { anchorPublicKey, createAnchorSigner } from './anchor-signature';
export { createHeadAnchors } from './anchors';
export type { Entry, Operator, Phase } from './entry';
export * from './audit-log';
export * from './open-audit';
export * from './operators';
export * from './settings';
