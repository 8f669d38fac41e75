import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import fc from 'fast-check';
import { anchorPublicKey, anchorPublicKeysOf, createAnchorSigner } from './anchor-signature';
import type { Entry } from './entry';
import { anchorIn, createHeadAnchors, judgeAnchors } from './anchors';

const HASH = 'a'.repeat(64);
const AT = '2026-01-01T00:00:00.000Z';
const newKey = () => new Secret(randomBytes(32));
const [key, otherKey] = [newKey(), newKey()];
const publicKeys = anchorPublicKeysOf(`${anchorPublicKey(otherKey)},${anchorPublicKey(key)}`);
const signAnchor = createAnchorSigner(key);

const FIELDS = ['sequence', 'hash', 'anchoredAt', 'signature'] as const;

/** As callback-dispatcher writes it. */
function signedLine(sequence = 7, hash = HASH, sign = signAnchor) {
  const statement = { sequence, hash, anchoredAt: AT };
  return { message: 'audited', ...statement, signature: sign(statement) };
}

function judge(lines: object[], takesUnsigned = false) {
  const anchors = lines.flatMap((line) => anchorIn(JSON.stringify(line)) ?? []);
  expect(anchors).toHaveLength(lines.length);
  return judgeAnchors(anchors, { publicKeys, takesUnsigned });
}

it.each<[string, object | string, object | undefined]>([
  ['an anchor', { message: 'audited', sequence: 7, hash: HASH, service: 'payout' }, { sequence: 7, hash: HASH }],
  [
    'a signed anchor',
    { message: 'audited', sequence: 7, hash: HASH, anchoredAt: AT, signature: 'AA==' },
    { sequence: 7, hash: HASH, signed: { anchoredAt: AT, signature: 'AA==' } },
  ],
  [
    'a signature that is no text',
    { message: 'audited', sequence: 7, hash: HASH, signature: null },
    { sequence: 7, hash: HASH, signed: { anchoredAt: '', signature: '' } },
  ],
  ['another line', { message: 'answered', reference: 'audited' }, undefined],
  ['no hash', { message: 'audited', sequence: 7 }, undefined],
  ['a wrong hash', { message: 'audited', sequence: 7, hash: 'x' }, undefined],
  ['a wrong number', { message: 'audited', sequence: '7', hash: HASH }, undefined],
  ['no JSON', '"audited', undefined],
  ['a list', ['audited'], undefined],
])('reads a log line with %s', (_what, line, anchor) => {
  expect(anchorIn(typeof line === 'string' ? line : JSON.stringify(line))).toEqual(anchor);
});

it('logs the head, signed, when it has changed, and once an hour', async () => {
  const heads = [{ sequence: 1, hash: 'b'.repeat(64) }];
  const logged: object[] = [];
  let nowMs = 0;
  const list = async () => heads.slice(-1) as unknown as Entry[];
  const logger = { info: (message: string, fields?: object) => void logged.push({ message, ...fields }) };
  const anchor = createHeadAnchors({ audit: { list }, now: () => nowMs, sign: signAnchor, logger });
  await anchor();
  await anchor();
  expect(logged).toMatchObject([{ message: 'audited', ...heads[0], anchoredAt: '1970-01-01T00:00:00.000Z' }]);
  heads.push({ sequence: 2, hash: 'c'.repeat(64) });
  await anchor();
  expect(logged).toHaveLength(2);
  nowMs = 3_600_000;
  await anchor();
  expect(logged[2]).toMatchObject({ sequence: 2, anchoredAt: '1970-01-01T01:00:00.000Z' });
  const { proofs, problems } = judge(logged);
  expect([proofs.map(({ sequence }) => sequence), problems]).toEqual([[1, 2, 2], []]);
});

describe('a signature', () => {
  it('covers every field of the anchor', () => {
    const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
    const instant = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    const statement = fc.record({ sequence: fc.nat(), hash: hex, anchoredAt: instant });
    const signature = fc
      .uint8Array({ minLength: 64, maxLength: 64 })
      .map((bytes) => Buffer.from(bytes).toString('base64'));
    fc.assert(
      fc.property(
        statement,
        statement,
        signature,
        fc.subarray([...FIELDS], { minLength: 1 }),
        (signed, other, forged, fields) => {
          const line: Record<string, unknown> = { message: 'audited', ...signed, signature: signAnchor(signed) };
          expect(judge([line]).proofs).toHaveLength(1);
          const others: Record<string, unknown> = { ...other, signature: forged };
          const changed = { ...line, ...Object.fromEntries(fields.map((name) => [name, others[name]])) };
          fc.pre(fields.some((name) => changed[name] !== line[name]));
          expect(judge([changed])).toMatchObject({ credible: [], proofs: [], problems: [expect.any(String)] });
        },
      ),
    );
  });

  it.each<[string, object]>([
    ['of nobody whom the keys name', signedLine(7, HASH, createAnchorSigner(newKey()))],
    ['of another anchor', { ...signedLine(8), sequence: 7 }],
    ['in another encoding', { ...signedLine(), signature: signedLine().signature.replace('=', '') }],
    ['that is empty', { ...signedLine(), signature: '' }],
    ['that is null', { ...signedLine(), signature: null }],
    ['without its time', { ...signedLine(), anchoredAt: undefined }],
  ])('%s is refused, also beside a right one and where unsigned anchors are taken', (_what, forged) => {
    const problems = ['an anchor of entry 7 is signed by no key of AUDIT_ANCHOR_PUBLIC_KEY'];
    expect(judge([forged, signedLine(3)], true)).toMatchObject({ proofs: [{ sequence: 3 }], problems });
  });

  it('counts under each key of a list, and under none if there is no list', () => {
    expect(judge([signedLine(), signedLine(8, HASH, createAnchorSigner(otherKey))]).proofs).toHaveLength(2);
    const unchecked = [{ sequence: 7, hash: HASH, signed: { anchoredAt: AT, signature: '' } }];
    const without = (takesUnsigned: boolean) => judgeAnchors(unchecked, { publicKeys: undefined, takesUnsigned });
    expect(without(false)).toMatchObject({ credible: [{ sequence: 7 }], proofs: [], problems: [] });
    expect(without(true).proofs).toEqual([{ sequence: 7, hash: HASH }]);
  });

  it('is missing: the anchor is credible, and proves something only if that is asked for', () => {
    const unsigned = { message: 'audited', sequence: 9, hash: HASH };
    expect(judge([unsigned, signedLine()])).toMatchObject({
      credible: [{ sequence: 9 }, { sequence: 7 }],
      proofs: [{ sequence: 7 }],
      problems: [],
    });
    expect(judge([unsigned], true).proofs).toMatchObject([{ sequence: 9 }]);
  });
});
