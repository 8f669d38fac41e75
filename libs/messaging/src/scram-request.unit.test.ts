import { alterScramUsers } from './scram-request';

const users = [{ name: 'payout', iterations: 4_096, salt: Buffer.from('salt'), saltedPassword: Buffer.from('hash') }];
const { request, response } = alterScramUsers.definitions.protocol()({ users });

test('the request has the fields of version 0, in the compact form', async () => {
  const { buffer } = (await request.encode()) as unknown as { buffer: Buffer };
  const expected = [
    [0], // tags of the header
    [1], // no deletions
    [2], // one user
    [7, ...Buffer.from('payout')],
    [2], // SCRAM-SHA-512
    [0, 0, 16, 0], // iterations
    [5, ...Buffer.from('salt')],
    [5, ...Buffer.from('hash')],
    [0], // tags of the user
    [0], // tags of the request
  ];
  expect([...buffer]).toEqual(expected.flat());
});

test('the answer names each user, with an error or none', async () => {
  const answer = [
    [0], // tags of the header
    [0, 0, 0, 0], // throttle time
    [3], // two users
    [7, ...Buffer.from('payout'), 0, 0, 0, 0],
    [5, ...Buffer.from('kim.'), 0, 31, 3, ...Buffer.from('no'), 0],
    [0], // tags of the answer
  ];
  expect(await response.decode(Buffer.from(answer.flat()))).toEqual([
    { user: 'payout', errorCode: 0 },
    { user: 'kim.', errorCode: 31 },
  ]);
});
