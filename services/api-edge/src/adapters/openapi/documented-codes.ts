import { ADVICE, adviceOfCode, cardStatusOfCode, responseCodes, scenarios } from '@gateway/contracts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The registry, as Markdown. */
export function codesTable(): string {
  const rows = responseCodes.map((entry) => [
    String(entry.code),
    cell(entry.message),
    entry.outcomeUnknown === true ? 'unknown' : cardStatusOfCode(entry.code),
    ADVICE[adviceOfCode(entry.code)],
  ]);
  return table(['code', 'message', 'outcome of a card operation', 'what to do'], rows);
}

/** What the sandbox does on request, as Markdown. */
export function scenariosTable(): string {
  const rows = scenarios().map(({ name, fields, operations, outcome }) => [
    code(name),
    Object.entries(fields)
      .map(([field, value]) => code(`${field}=${value}`))
      .join(' '),
    operations,
    cell(outcome),
  ]);
  return table(['scenario', 'send in XTS', 'with', 'then'], rows);
}
