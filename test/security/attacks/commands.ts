import { randomBytes } from 'node:crypto';
import { newReference, paymentIdOf, SettleAuthorization } from '@gateway/contracts';
import { deadLetterTopicOf, topicOf } from '@gateway/messaging';
import { startPublisher, until } from '@gateway/testing';
import { cardRequest, checkOf, followUp, recordsOf } from '../../support/system';
import { readTopics } from '../../support/topics';
import type { World } from '../world';

/** Commands that a service writes into its own topic, although they are another's to give. */
export function attackCommands(world: () => World): void {
  const foreign: [string, string | undefined][] = [
    ['of a merchant', SettleAuthorization.type],
    ['of no type', undefined],
    ['of a type that nobody declares', 'PayEverything'],
  ];

  test.each(foreign)('a command %s in card.expiries is a dead letter, and ends no operation', async (_whose, type) => {
    const { space } = world().surroundings;
    const publisher = await startPublisher(space, 'auth-expiry');
    const authorized = await world().send(cardRequest('AUTH'));
    const reference = String(authorized['reference']);
    const paymentId = paymentIdOf(reference);
    const forged = newReference(paymentId, randomBytes);
    const ids = { paymentId, reference: forged, merchantAccount: 'demo_merchant', transactionUniqueId: forged };
    const letters = deadLetterTopicOf(space.topicPrefix, 'cardExpiries') ?? '';
    const before = (await readTopics(space, [letters])).length;
    await publisher.publishRaw({
      topic: topicOf(space.topicPrefix, 'cardExpiries'),
      key: paymentId,
      value: Buffer.from(JSON.stringify(ids)),
      headers: type === undefined ? {} : { ce_type: type },
    });
    await publisher.stop();
    await until('a dead letter', async () => (await readTopics(space, [letters])).length === before + 1);
    expect(recordsOf(await world().send(checkOf({ reference: forged })))).toEqual([]);
    expect(await world().send(followUp('SETTLE', reference))).toMatchObject({ status: 'success' });
  });
}
