import type { Document } from '../support/documented-api';
import { currentDocument } from '../support/documented-api';
import { apiBreaks } from './api-breaks';

const last = currentDocument();

interface Draft {
  [keyword: string]: unknown;
  properties: Record<string, Draft>;
  required: string[];
  enum: unknown[];
}
interface DraftDocument {
  paths: Record<
    string,
    { post: { responses: Record<string, { headers: object }>; 'x-operations': { title: string }[] } }
  >;
  webhooks: Record<string, object>;
  components: { schemas: Record<string, Draft> };
}

function planted(change: (draft: DraftDocument) => void): string[] {
  const draft = structuredClone(last) as unknown as DraftDocument;
  change(draft);
  return apiBreaks(last, draft as unknown as Document);
}

const CARDS = '/api/pf/host-to-host';

function schema({ components }: DraftDocument, name: string, ...path: string[]): Draft {
  const found = path.reduce<Draft | undefined>((draft, field) => draft?.properties[field], components.schemas[name]);
  if (found === undefined) throw new Error(`no ${name} ${path.join('.')}`);
  return found;
}

test('a document does not break itself, and may grow', () => {
  expect(apiBreaks(last, last)).toEqual([]);
  const grown = planted((draft) => {
    draft.paths['/api/pf/blessings'] = structuredClone(draft.paths[CARDS]!);
    schema(draft, 'SettleRequest').properties['purpose'] = { type: 'string' } as unknown as Draft;
    schema(draft, 'CardApproved').properties['purpose'] = { type: 'string' } as unknown as Draft;
    schema(draft, 'CardApproved').required.push('purpose');
    schema(draft, 'DeclineCode').enum.push(3_199);
    schema(draft, 'PayoutRequest', 'receiver_type').enum.push('STATE');
    schema(draft, 'PayoutRequest', 'receiver_name')['maxLength'] = 140;
  });
  expect(grown).toEqual([]);
});

const BREAKS: [what: string, change: (draft: DraftDocument) => void, sentence: string][] = [
  [
    'an endpoint that is gone',
    ({ paths }) => void delete paths['/api/mp/transactions/ra'],
    '/api/mp/transactions/ra is gone.',
  ],
  [
    'an operation that is gone',
    ({ paths }) => {
      const { post } = paths[CARDS]!;
      post['x-operations'] = post['x-operations'].filter(({ title }) => title !== 'Tokenize');
    },
    'The operation Tokenize is gone.',
  ],
  [
    'a callback that is gone',
    ({ webhooks }) => void delete webhooks['cardOutcome'],
    'The callback cardOutcome is gone.',
  ],
  [
    'a status that merchants do not know',
    ({ paths }) => void (paths[CARDS]!.post.responses['418'] = { headers: {} }),
    `${CARDS} answers with the status 418, which merchants do not know.`,
  ],
  [
    'an answer without a header',
    ({ paths }) =>
      void (paths[CARDS]!.post.responses['200']!.headers = { 'Cache-Control': {}, 'Idempotency-Replayed': {} }),
    `${CARDS} no longer answers 200 with X-Request-Id.`,
  ],
  [
    'a field of a request that becomes required',
    (draft) => void schema(draft, 'SettleRequest').required.push('merchant_user_id'),
    'SettleRequest.merchant_user_id has become required.',
  ],
  [
    'a field of a request that is no longer read',
    (draft) => void delete schema(draft, 'SettleRequest').properties['merchant_user_id'],
    'SettleRequest.merchant_user_id is gone.',
  ],
  [
    'a narrower bound of a request',
    (draft) => void (schema(draft, 'SettleRequest', 'merchant_user_id')['maxLength'] = 16),
    'SettleRequest.merchant_user_id: maxLength was 32 and is 16.',
  ],
  [
    'a value that a request may no longer have',
    (draft) => void schema(draft, 'PayoutRequest', 'receiver_type').enum.pop(),
    'PayoutRequest.receiver_type no longer has LEGAL.',
  ],
  [
    'another pattern of a request',
    (draft) => void (schema(draft, 'SettleRequest', 'currency')['pattern'] = '^[A-Z]{4}$'),
    'SettleRequest.currency has another pattern.',
  ],
  [
    'a field that is gone from an answer',
    (draft) => void delete schema(draft, 'CardApproved').properties['authcode'],
    'CardApproved.authcode is gone.',
  ],
  [
    'a field that an answer need not have any more',
    (draft) => void schema(draft, 'CardApproved').required.splice(0, 1),
    'CardApproved.api_version is no longer always there.',
  ],
  [
    'a status of a payout that merchants do not know',
    (draft) => void schema(draft, 'PayoutRecord', 'status').enum.push('FROZEN'),
    'PayoutRecord.status may be FROZEN, which merchants do not know.',
  ],
  ['a code that is gone', (draft) => void schema(draft, 'DeclineCode').enum.shift(), 'DeclineCode no longer has 3023.'],
  [
    'a shape of an answer that is gone',
    (draft) => void delete draft.components.schemas['CheckFound'],
    'The answer CheckFound is gone.',
  ],
];

test.each(BREAKS)('%s is caught', (_what, change, sentence) => {
  expect(planted(change)).toContain(sentence);
});
