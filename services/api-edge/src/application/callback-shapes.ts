import { CALLBACK_ERRORS } from '@gateway/contracts';
import type { JsonSchema, OutcomeShape, Properties } from './answer-shapes';
import { QUERY_REFUSED, UNIX_SECONDS, cardEnvelope, cardFields, shapeOf, succeeded } from './answer-shapes';
import { STATUS_MIN } from './callback-responses';

/** What merchants read about their callbacks: callback-responses.ts renders it. */

const text = (description: string): JsonSchema => ({ type: 'string', description });
const CURSOR = text('Where the next page begins.');
const MESSAGE: JsonSchema = { type: 'string', maxLength: 255 };

const named: Properties = {
  callback_id: text('Id of the callback.'),
  type: { type: 'string', enum: ['card', 'payout'], description: 'What it is about.' },
  reference: cardFields['reference'] ?? {},
  transaction_unique_id: cardFields['transaction_unique_id'] ?? {},
};

function errorsDescribed(): string {
  const described = Object.entries(CALLBACK_ERRORS).map(([error, meaning]) => `${error}: ${meaning}`);
  return `Why it was not acknowledged. ${described.join('; ')}.`;
}

const ATTEMPT: JsonSchema = {
  title: 'CallbackAttempt',
  description: 'A request to the address of a callback. Without `acknowledged` it is under way, or was cut off.',
  ...shapeOf(
    {
      timestamp: UNIX_SECONDS,
      acknowledged: { type: 'boolean' },
      http_status: { type: 'integer', minimum: STATUS_MIN, maximum: 999 },
      error: { type: 'string', enum: Object.keys(CALLBACK_ERRORS), description: errorsDescribed() },
      body_start: {
        type: 'string',
        maxLength: 1_000,
        description:
          'The first 100 characters of an answer that is no acknowledgement. Control characters are escaped, and card numbers are masked.',
      },
      duration_ms: { type: 'integer', minimum: 0 },
    },
    ['acknowledged', 'http_status', 'error', 'body_start', 'duration_ms'],
  ),
};

const RECORD: JsonSchema = {
  title: 'CallbackRecord',
  description: 'A callback with its latest attempts, oldest first.',
  ...shapeOf(
    {
      ...named,
      callback_url: text('Its address.'),
      state: { type: 'string', enum: ['pending', 'delivered', 'exhausted'] },
      timestamp: { ...UNIX_SECONDS, description: 'When it was created, in unix seconds.' },
      next_attempt_at: { ...UNIX_SECONDS, description: 'While it is pending.' },
      ended_at: { ...UNIX_SECONDS, description: 'When it was delivered or exhausted.' },
      attempts: { type: 'array', items: ATTEMPT },
    },
    ['next_attempt_at', 'ended_at'],
  ),
};

const EVENT: JsonSchema = {
  title: 'CallbackEvent',
  description: 'A callback as it is sent: post the body with these headers, both as they are.',
  ...shapeOf({
    ...named,
    timestamp: UNIX_SECONDS,
    headers: { type: 'object', additionalProperties: { type: 'string' } },
    body: text('The form, byte for byte.'),
    cursor: text('Continues after this event.'),
  }),
};

const listed = (title: string, description: string, optional: readonly string[]): OutcomeShape => ({
  title,
  description,
  ...shapeOf(
    { ...cardEnvelope, callbacks: { type: 'array', items: RECORD }, cursor: CURSOR, ...succeeded, message: MESSAGE },
    optional,
  ),
});

export const CALLBACK_LIST_OUTCOMES = [
  listed('CallbacksListed', 'Callbacks of the account, newest first. Without `cursor` it is the last page.', [
    'cursor',
  ]),
  QUERY_REFUSED,
];

export const CALLBACK_RESEND_OUTCOMES = [
  listed('CallbackResent', 'The callback, which is sent again.', ['cursor']),
  QUERY_REFUSED,
];

export const CALLBACK_EVENTS_OUTCOMES: readonly OutcomeShape[] = [
  {
    title: 'CallbackEvents',
    description: 'The next callbacks, oldest first. Ask again with `cursor`.',
    ...shapeOf({
      ...cardEnvelope,
      events: { type: 'array', items: EVENT },
      cursor: text('Continues after these events.'),
      ...succeeded,
      message: MESSAGE,
    }),
  },
  QUERY_REFUSED,
];
