import fc from 'fast-check';
import { create } from 'xmlbuilder2';
import { BANK_MESSAGES } from './bank-messages';
import { PAIN_002_SHAPE, readPain002 } from './pain002-file';
import { createSchemaCheck } from './schema-check';
import type { Content, Shape } from './xml-content';

/** One report in the many forms that XML has for it, in many of its encodings. */

const schemaCheck = createSchemaCheck();
afterAll(() => schemaCheck.stop());

/** An element of a report: its name, attribute and text, or what is below it. */
interface Element {
  name: string;
  attribute?: string;
  content: string | Element[];
}

/** How the parts of a document are written. Each choice comes from the list, over and over. */
interface Form {
  texts: readonly ('plain' | 'decimal' | 'hexadecimal' | 'cdata' | 'comment' | 'instruction')[];
  gaps: readonly string[];
  prefix: string;
  encoding: 'UTF-8' | 'UTF-8 with mark' | 'UTF-16LE' | 'UTF-16BE' | 'ISO-8859-1';
}

const PLAIN: Form = { texts: ['plain'], gaps: [''], prefix: '', encoding: 'UTF-8' };

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function characters(text: string, how: Form['texts'][number]): string {
  switch (how) {
    case 'plain':
      return escaped(text);
    case 'decimal':
      return [...text].map((one) => `&#${one.codePointAt(0) ?? 0};`).join('');
    case 'hexadecimal':
      return [...text].map((one) => `&#x${(one.codePointAt(0) ?? 0).toString(16)};`).join('');
    case 'cdata':
      return `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
    case 'comment':
      return `<!-- <TxSts>ACSC</TxSts> -->${escaped(text)}`;
    case 'instruction':
      return `${escaped(text)}<?bank <TxSts>ACSC</TxSts>?>`;
  }
}

function written(root: Element, namespace: string, form: Form): Buffer {
  let texts = 0;
  let gaps = 0;
  const nextText = () => form.texts[(texts += 1) % form.texts.length] ?? 'plain';
  const nextGap = () => form.gaps[(gaps += 1) % form.gaps.length] ?? '';
  // What Latin-1 lacks needs a reference there.
  const fits = (text: string) => form.encoding !== 'ISO-8859-1' || /^[\u0020-\u007e\u00a0-\u00ff]*$/.test(text);
  const textOf = ([first = '', ...more]: string) =>
    [first, more.join('')].map((part) => characters(part, fits(part) ? nextText() : 'decimal')).join('');
  const prefix = form.prefix === '' ? '' : `${form.prefix}:`;
  const declared = form.prefix === '' ? 'xmlns' : `xmlns:${form.prefix}`;
  const render = ({ name, attribute, content }: Element, isRoot = false): string => {
    const attributes = `${isRoot ? ` ${declared}="${namespace}"` : ''}${attribute === undefined ? '' : ` Ccy='${attribute}'`}`;
    const inside =
      typeof content === 'string'
        ? textOf(content)
        : content.map((one) => nextGap() + render(one)).join('') + nextGap();
    return `<${prefix}${name}${attributes}>${inside}</${prefix}${name}>`;
  };
  const encoding = form.encoding.startsWith('UTF-16') ? 'UTF-16' : form.encoding.replace(' with mark', '');
  const text = `<?xml version="1.0" encoding="${encoding}"?>${render(root, true)}`;
  switch (form.encoding) {
    case 'UTF-8':
      return Buffer.from(text);
    case 'UTF-8 with mark':
      return Buffer.from(`\ufeff${text}`);
    case 'UTF-16LE':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'UTF-16BE':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    case 'ISO-8859-1':
      return Buffer.from(text, 'latin1');
  }
}

const leaf = (name: string, content: fc.Arbitrary<string>): fc.Arbitrary<Element> =>
  content.map((text) => ({ name, content: text }));
const maybe = (arbitrary: fc.Arbitrary<Element>): fc.Arbitrary<Element[]> =>
  fc.option(arbitrary, { nil: undefined }).map((one) => (one === undefined ? [] : [one]));
const inOrder = (...parts: fc.Arbitrary<Element[]>[]): fc.Arbitrary<Element[]> =>
  fc.tuple(...parts).map((found) => found.flat());
const one = (arbitrary: fc.Arbitrary<Element>): fc.Arbitrary<Element[]> => arbitrary.map((found) => [found]);

const LETTERS = [...'ABCxyz019 -&<>"\'äöü€–漢😀]'];
const words = (maxLength: number) => fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength });
const code = fc.constantFrom('RJCT', 'ACSC', 'ACCP', 'PART', 'CANC', 'RCVC');
const reasons = fc.array(
  inOrder(
    maybe(leaf('Cd', fc.constantFrom('AC04', 'AM05', 'FF01')).map((cd) => ({ name: 'Rsn', content: [cd] }))),
    fc.array(leaf('AddtlInf', words(40)), { maxLength: 3 }),
  ).map((content) => ({ name: 'StsRsnInf', content })),
  { maxLength: 2 },
);
const decimal = fc.integer({ min: 0, max: 10_000_000 }).map((cents) => (cents / 100).toFixed(2));
const totals = [maybe(leaf('OrgnlNbOfTxs', fc.nat({ max: 999 }).map(String))), maybe(leaf('OrgnlCtrlSum', decimal))];
const original = decimal.map((content): Element => {
  const amount = { name: 'InstdAmt', attribute: 'EUR', content };
  return { name: 'OrgnlTxRef', content: [{ name: 'Amt', content: [amount] }] };
});
const transaction = inOrder(
  maybe(leaf('OrgnlInstrId', words(30))),
  maybe(leaf('OrgnlEndToEndId', words(30))),
  maybe(leaf('TxSts', code)),
  reasons,
  maybe(leaf('AcctSvcrRef', words(30))),
  maybe(original),
).map((content) => ({ name: 'TxInfAndSts', content }));
const payment = inOrder(
  one(leaf('OrgnlPmtInfId', words(30))),
  ...totals,
  maybe(leaf('PmtInfSts', code)),
  reasons,
  fc.array(transaction, { maxLength: 4 }),
).map((content) => ({ name: 'OrgnlPmtInfAndSts', content }));
const group = inOrder(
  one(leaf('OrgnlMsgId', words(30))),
  one(leaf('OrgnlMsgNmId', fc.constant('pain.001.001.09'))),
  ...totals,
  maybe(leaf('GrpSts', code)),
  reasons,
).map((content) => ({ name: 'OrgnlGrpInfAndSts', content }));
const header = inOrder(one(leaf('MsgId', words(30))), one(leaf('CreDtTm', fc.constant('2026-11-21T10:00:00Z')))).map(
  (content) => ({ name: 'GrpHdr', content }),
);
const report = inOrder(one(header), one(group), fc.array(payment, { maxLength: 3 })).map((content): Element => ({
  name: 'Document',
  content: [{ name: 'CstmrPmtStsRpt', content }],
}));

const anyForm: fc.Arbitrary<Form> = fc.record({
  texts: fc.array(fc.constantFrom('plain', 'decimal', 'hexadecimal', 'cdata', 'comment', 'instruction'), {
    minLength: 1,
    maxLength: 7,
  }),
  gaps: fc.array(fc.constantFrom('', '\n', ' \t', '\r\n', '<!-- <TxSts>RJCT</TxSts> -->', '<?bank ?>'), {
    minLength: 1,
    maxLength: 5,
  }),
  prefix: fc.constantFrom('', 'p', 'ns0'),
  encoding: fc.constantFrom('UTF-8', 'UTF-8 with mark', 'UTF-16LE', 'UTF-16BE', 'ISO-8859-1'),
});
const version = fc.constantFrom('10', '12', '13', '15');

async function read(bytes: Buffer): Promise<Content> {
  const found = await schemaCheck.read(bytes, BANK_MESSAGES);
  if ('problem' in found) throw new Error(`${found.problem} in ${bytes.toString('latin1')}`);
  return found.content;
}

/** What another implementation of XML finds by the same names. */
function readByDom(text: string): Content {
  const document = create({ skipWhitespaceOnlyText: false }, text).node as unknown as DomNode;
  return contentOf(document, PAIN_002_SHAPE);
}

interface DomNode {
  localName: string;
  nodeType: number;
  textContent: string | null;
  childNodes: Iterable<DomNode>;
  getAttribute(name: string): string | null;
}

function contentOf(node: DomNode, shape: Shape): Content {
  const content: Record<string, (string | Content)[]> = {};
  if (Object.hasOwn(shape, '#text')) content['#text'] = [node.textContent ?? ''];
  if (Object.hasOwn(shape, '@Ccy')) content['@Ccy'] = [node.getAttribute('Ccy') ?? ''];
  for (const child of node.childNodes) {
    if (child.nodeType !== 1 || !Object.hasOwn(shape, child.localName)) continue;
    const below = shape[child.localName] ?? 'text';
    (content[child.localName] ??= []).push(below === 'text' ? (child.textContent ?? '') : contentOf(child, below));
  }
  return content;
}

const namespaceOf = (one: string) => `urn:iso:std:iso:20022:tech:xsd:pain.002.001.${one}`;

it('reads the same from every form of a report', async () => {
  await fc.assert(
    fc.asyncProperty(report, version, anyForm, async (root, which, form) => {
      const plain = await read(written(root, namespaceOf(which), PLAIN));
      const other = await read(written(root, namespaceOf(which), form));
      expect(other).toEqual(plain);
      expect(readPain002(other)).toEqual(readPain002(plain));
    }),
    { numRuns: 300 },
  );
});

it('reads what another reader of XML does', async () => {
  await fc.assert(
    fc.asyncProperty(report, version, anyForm, async (root, which, form) => {
      const bytes = written(root, namespaceOf(which), { ...form, encoding: 'UTF-8' });
      expect(await read(bytes)).toEqual(readByDom(bytes.toString()));
    }),
    { numRuns: 300 },
  );
});

it('refuses every element where text belongs, and leaves out none', async () => {
  const bare = written(
    {
      name: 'Document',
      content: [
        {
          name: 'CstmrPmtStsRpt',
          content: [
            {
              name: 'GrpHdr',
              content: [
                { name: 'MsgId', content: 'R' },
                { name: 'CreDtTm', content: '2026-11-21T10:00:00Z' },
              ],
            },
            {
              name: 'OrgnlGrpInfAndSts',
              content: [
                { name: 'OrgnlMsgId', content: 'M' },
                { name: 'OrgnlMsgNmId', content: 'pain.001.001.09' },
                { name: 'GrpSts', content: 'RJCT' },
              ],
            },
          ],
        },
      ],
    },
    namespaceOf('12'),
    PLAIN,
  ).toString();
  await read(Buffer.from(bare));
  for (const name of ['MsgId', 'OrgnlMsgId', 'GrpSts']) {
    for (const place of [`<${name}>`, `</${name}>`]) {
      const broken = bare.replace(place, place.startsWith('</') ? `<b/>${place}` : `${place}<b/>`);
      const found = await schemaCheck.read(Buffer.from(broken), BANK_MESSAGES);
      expect(found).toEqual({ problem: expect.stringContaining(name) as string });
    }
  }
});
