import { describe, expect, it } from 'vitest';
import { SILENT_LOG } from '../../../test/support/sample-call.ts';
import type { RecordLoginRequest } from '../../domain/ports/token-store.ts';
import { createLoginRefusals } from './login-refusals.ts';
import { RateLimit } from './rate-limit.ts';

describe('records of refused logins', () => {
  it('are bounded; the next one says how many were left out', async () => {
    const written: RecordLoginRequest[] = [];
    let now = 0;
    const limit = new RateLimit({ perSecond: 1, burst: 3 }, () => now);
    const store = { recordLogin: async (request: RecordLoginRequest) => void written.push(request) };
    const refusals = createLoginRefusals(store, SILENT_LOG, limit);
    for (let attempt = 0; attempt < 100; attempt += 1) await refusals.record('token', '192.0.2.1');
    expect(written).toHaveLength(3);
    expect(written[0]).toMatchObject({
      outcome: 'refused',
      actor: { by: 'unknown', via: 'console' },
      detail: 'a token that is not valid, from 192.0.2.1',
    });
    now += 1000;
    await refusals.record('code', '192.0.2.2');
    expect(written.at(-1)!.detail).toBe('a login link that is not valid, from 192.0.2.2; 97 more before it');
    expect(new Set(written.map(({ attempt }) => attempt)).size).toBe(4);
  });

  it('that cannot be written change nothing for the caller, and are counted', async () => {
    let isDown = true;
    const written: RecordLoginRequest[] = [];
    const store = {
      async recordLogin(request: RecordLoginRequest) {
        if (isDown) throw new Error('no store');
        written.push(request);
      },
    };
    const refusals = createLoginRefusals(store, SILENT_LOG);
    await refusals.record('code', '192.0.2.1');
    isDown = false;
    await refusals.record('code', '192.0.2.1');
    expect(written.map(({ detail }) => detail)).toEqual([
      'a login link that is not valid, from 192.0.2.1; 1 more before it',
    ]);
  });
});
