export type { FieldError } from './answers';
export { createClient } from './client';
export type { CallOptions, Client, ClientOptions, Listing, PayoutOutcome, PayoutRecord } from './client';
export type { CallbackAttempt, CallbackListing, CallbackRecord } from './callback-list';
export { ADVICE, RESPONSE_CODES } from './codes';
export type { Advice } from './codes';
export { adviceOf, assertNever } from './outcomes';
export type {
  Approved,
  Challenge,
  CheckRecord,
  Closed,
  Declined,
  Failed,
  Open,
  Outcome,
  Page,
  Pending,
  Unknown,
} from './outcomes';
export type {
  Amount,
  Auth3dRequest,
  CallbackQuery,
  ChargeRequest,
  CheckoutRequest,
  ClockRequest,
  PayoutQuery,
  PayoutRequest,
  RefundRequest,
  Sale3dRequest,
  SettleRequest,
  Subject,
  TokenizeRequest,
  VoidRequest,
} from './requests';
export type { ClockOutcome, SandboxClock } from './sandbox-clock';
export { signTestCallback, verifyCallback } from './callbacks';
export type {
  Callback,
  CallbackHeaders,
  CallbackRefusal,
  CallbackSecrets,
  HoldCallback,
  OutcomeCallback,
  ReceivedCallback,
  TestCallback,
  Verification,
} from './callbacks';
export { expressCallbackHandler, fetchCallbackHandler } from './callback-handlers';
export type { NodeRequest, NodeResponse, OnCallback, WebRequest, WebResponse } from './callback-handlers';
