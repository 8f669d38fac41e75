import { Agent } from 'node:http';
import type { Body } from '../../support/system';
import { checkOf } from '../../support/system';
import { peakMiB } from '../memory';
import type { World } from '../world';

/** Of one attack: 62 KiB each, 12 MiB together. */
const BODIES_AT_ONCE = 200;
const BODY_BYTES = 62 * 1024;
const ROUNDS = 3;
/** Of api-edge in the chart. */
const MEMORY_LIMIT_MIB = 512;

const filled = (unit: string): string => unit.repeat(Math.floor(BODY_BYTES / unit.length));
const BODIES: readonly (readonly [what: string, body: string])[] = [
  ['arrays that are never closed', `{"a":${filled('[')}`],
  ['arrays within arrays', `{"a":${'['.repeat(BODY_BYTES / 2)}${']'.repeat(BODY_BYTES / 2)}}`],
  ['empty arrays in an array', `{"a":[${filled('[],')}[]]}`],
  ['objects within objects', `{"a":${filled('{"a":')}`],
  ['names without end', `{${Array.from({ length: 6_000 }, (_, index) => `"${index}":[]`).join(',')}}`],
];

/** Bodies without credentials that are much larger once they are parsed, and a merchant at the same address beside them. */
export function attackWithBrackets(world: () => World): void {
  test.each(BODIES)(`${BODIES_AT_ONCE} bodies at once of %s stop nobody`, async (_what, body) => {
    const agent = new Agent({ keepAlive: true, maxSockets: BODIES_AT_ONCE });
    let isOver = false;
    async function bystand(): Promise<Body[]> {
      const answers: Body[] = [];
      do answers.push(await world().send(checkOf({ reference: 'A'.repeat(20) })));
      while (!isOver);
      return answers;
    }
    const bystander = bystand();
    for (let round = 0; round < ROUNDS; round += 1) {
      const sent = Array.from({ length: BODIES_AT_ONCE }, () => world().exchange(world().ports.PORT, { body, agent }));
      const answers = await Promise.all(sent);
      expect(
        new Set(answers.map(({ status, text }) => `${status} ${(JSON.parse(text) as Body)['code'] as number}`)),
      ).toEqual(new Set(['200 1001']));
    }
    isOver = true;
    agent.destroy();
    const codes = new Set((await bystander).map(({ code }) => code));
    expect(codes).toEqual(new Set([3014]));
    const edge = world().services.get('api-edge');
    expect(edge?.isRunning()).toBe(true);
    expect(peakMiB(edge?.pid)).toBeLessThan(MEMORY_LIMIT_MIB);
  });
}
