import { blocksOf, missingLine, notRunBecause, stepsOf } from './blocks';

const DOCUMENT = `
# Try it

\`\`\`sh
echo one
\`\`\`

It says:

\`\`\`text output
one
\`\`\`

1. In a list:

   \`\`\`sh not-run=docker
   docker ps \\
     --all
   \`\`\`

<!-- given
import { pay } from 'shop';
-->

\`\`\`ts
await pay();
\`\`\`
`;
const blocks = blocksOf('docs/x.md', DOCUMENT);

test('finds blocks with line, language, marks, and what a comment declares', () => {
  expect(blocks.map(({ line, language, marks }) => [line, language, ...marks])).toEqual([
    [4, 'sh'],
    [10, 'text', 'output'],
    [16, 'sh', 'not-run=docker'],
    [25, 'ts'],
  ]);
  expect(blocks[2]).toMatchObject({ text: 'docker ps \\\n  --all\n' });
  expect(blocks[3]).toMatchObject({ given: "import { pay } from 'shop';\n", text: 'await pay();\n' });
  expect(blocks.map(notRunBecause)).toEqual([undefined, undefined, 'docker', undefined]);
});

test('runs what is not marked, and expects the output that follows', () => {
  expect(stepsOf(blocks).map(({ block, output }) => [block.text, output])).toEqual([['echo one\n', ['one']]]);
});

test.each<[string[], string, string | undefined]>([
  [['a', 'c'], 'a\nb\nc\n', undefined],
  [['c', 'a'], 'a\nb\nc\n', 'a'],
  [['{"code":0,…}'], '{"code":0,"message":"x"}', undefined],
  [['{"code":0,…}'], '{"code":3101}', '{"code":0,…}'],
  [['a.c'], 'abc', 'a.c'],
  [[], 'anything', undefined],
])('of %j in %j, %j is missing', (expected, printed, missing) => {
  expect(missingLine(expected, printed)).toBe(missing);
});
