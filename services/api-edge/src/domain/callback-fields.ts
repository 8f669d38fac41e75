import type { CallbackEventsRequest, CallbackListRequest, CallbackResendRequest } from './callback-request';
import type { RequestTable } from './field-check';
import * as rule from './field-rules';
import { row } from './field-table';

const MAX_CURSOR_LENGTH = 100;
const MAX_ID_LENGTH = 64;

/** callback-dispatcher has the same bounds. */
const CALLBACKS_LIMIT_MAX = 50;
const CALLBACKS_LIMIT_DEFAULT = 20;
const EVENTS_LIMIT_MAX = 100;
const EVENTS_LIMIT_DEFAULT = 50;

/** Less than proxies usually wait for an answer. */
const WAIT_SECONDS_MAX = 25;
const WAIT_SECONDS_DEFAULT = 20;

const cursor = row('cursor', 'optional', rule.anyText(1, MAX_CURSOR_LENGTH, 'the cursor of an earlier answer'));

/** The fields of a list of callbacks. */
export const CALLBACK_LIST_TABLE: RequestTable<CallbackListRequest> = {
  rows: [
    row('transaction_unique_id', 'optional', rule.knownUniqueId(1)),
    row('reference', 'optional', rule.shortReference),
    row('time_from', 'optional', rule.unixSeconds),
    row('limit', 'optional', rule.integer(1, CALLBACKS_LIMIT_MAX)),
    cursor,
  ],
  build(found) {
    const transactionUniqueId = found.optionalText('transaction_unique_id');
    const reference = found.optionalText('reference');
    const from = found.optionalNumber('time_from');
    const place = found.optionalText('cursor');
    return {
      limit: found.optionalNumber('limit') ?? CALLBACKS_LIMIT_DEFAULT,
      ...(reference === undefined ? {} : { of: { reference } }),
      ...(transactionUniqueId === undefined ? {} : { of: { transactionUniqueId } }),
      ...(from === undefined ? {} : { from }),
      ...(place === undefined ? {} : { cursor: place }),
    };
  },
};

/** The fields of a look at the feed. */
export const CALLBACK_EVENTS_TABLE: RequestTable<CallbackEventsRequest> = {
  rows: [
    cursor,
    row('since', 'optional', rule.unixSeconds),
    row('wait', 'optional', rule.integer(0, WAIT_SECONDS_MAX)),
    row('limit', 'optional', rule.integer(1, EVENTS_LIMIT_MAX)),
  ],
  build(found) {
    const after = found.optionalText('cursor');
    const since = found.optionalNumber('since');
    return {
      waitSeconds: found.optionalNumber('wait') ?? WAIT_SECONDS_DEFAULT,
      limit: found.optionalNumber('limit') ?? EVENTS_LIMIT_DEFAULT,
      ...(since === undefined ? {} : { start: { since } }),
      ...(after === undefined ? {} : { start: { after } }),
    };
  },
};

/** The fields of a resend. */
export const CALLBACK_RESEND_TABLE: RequestTable<CallbackResendRequest> = {
  rows: [row('callback_id', 'required', rule.anyText(1, MAX_ID_LENGTH, 'the callback_id of a list'))],
  build: (found) => ({ callbackId: found.text('callback_id') }),
};
