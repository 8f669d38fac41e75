import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { limitConcurrency } from './limit-concurrency';

const MAX = 2;

class Exchange extends EventEmitter {
  closed = false;
  end(): void {
    this.closed = true;
    this.emit('close');
  }
}

const asResponse = (exchange: Exchange): ServerResponse => exchange as unknown as ServerResponse;

test('requests beyond the limit are refused until an answer has left', () => {
  const enter = limitConcurrency(MAX);
  const first = new Exchange();
  expect([first, new Exchange(), new Exchange()].map((one) => enter(asResponse(one)))).toEqual([true, true, false]);
  first.end();
  expect([new Exchange(), new Exchange()].map((one) => enter(asResponse(one)))).toEqual([true, false]);
});

test('those whose clients have left take nothing, however many they are', () => {
  const enter = limitConcurrency(MAX);
  for (let times = 0; times < 2 * MAX; times += 1) {
    const gone = new Exchange();
    gone.end();
    expect(enter(asResponse(gone))).toBe(false);
  }
  expect(enter(asResponse(new Exchange()))).toBe(true);
});
