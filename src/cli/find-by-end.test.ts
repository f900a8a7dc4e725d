import { expect, it } from 'vitest';
import type { Config } from '../config/config-schema.ts';
import type { AnyStore } from '../domain/ports/store.ts';
import { findCallId } from './find-by-end.ts';

const ONE = '0.AAAAAAAAAAAA.1111111111111111111111';
const OTHER = '0.BBBBBBBBBBBB.2222222222222211111111';
const config = { store: 'embedded' } as Config;

function storeWith(...callIds: string[]): AnyStore {
  return {
    listCalls: async () => callIds.map((callId) => ({ callId })),
    queryTrail: async () => ({ records: [] }),
  } as unknown as AnyStore;
}

it('an end that several calls have is refused, and names them', async () => {
  await expect(findCallId(storeWith(ONE, OTHER), config, '11111111')).rejects.toMatchObject({
    code: 'ID_AMBIGUOUS',
    message: expect.stringContaining(`${ONE}, ${OTHER}`) as string,
  });
  expect(await findCallId(storeWith(ONE, OTHER), config, '211111111')).toBe(OTHER);
});

it('a whole id is taken as it is, and what is too short or no id is unknown', async () => {
  expect(await findCallId(storeWith(), config, ONE)).toBe(ONE);
  for (const asked of ['111', '', '*', '9999']) {
    await expect(findCallId(storeWith(ONE), config, asked)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
  }
});
