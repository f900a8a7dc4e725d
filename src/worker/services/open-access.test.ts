import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallId, SessionId, ToolId } from '../../domain/identity/ids.ts';
import type { ServiceCaller } from '../../domain/tool/service.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { ServiceCall, ServiceHandle } from './define-service.ts';
import { openAccess, SERVICE_LIMITS } from './open-access.ts';
import { ServiceFailure } from './service-failure.ts';

const caller: ServiceCaller = {
  identity: { tenant: 't', subject: 'ann', agent: 'main' },
  session: 's' as SessionId,
  callId: 'call-1' as CallId,
  fence: 1,
  tool: 'm.t' as ToolId,
};

function stage(open: (call: ServiceCall) => ServiceHandle, methods = ['do', 'make']) {
  const errors: object[] = [];
  const log: Log = { debug() {}, info() {}, warn() {}, error: (facts) => void errors.push(facts) };
  const access = openAccess([{ name: 'shop', service: { open }, methods }], caller, log);
  const ask = (method: string, ...args: string[]) => access.call({ service: 'shop', method, args });
  return { access, ask, errors };
}

describe('the access of a call to services', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('calls the method with copies, and copies what it answers', async () => {
    const answer = { list: [1], at: new Date(0) };
    const { access } = stage(() => ({ do: (given: { a: number[] }) => (given.a.push(2), answer) }));
    const given = { a: [1] };
    const got = await access.call({ service: 'shop', method: 'do', args: [given] });
    expect([got, given]).toEqual([{ list: [1], at: '1970-01-01T00:00:00.000Z' }, { a: [1] }]);
    expect(await stage(() => ({ do: () => undefined })).ask('do')).toBeNull();
  });

  it('offers only the methods that are named, and nothing an object has by nature', async () => {
    const { access, ask } = stage(() => ({ do: () => 1, secret: () => 2 }));
    expect(access.offered).toEqual({ shop: ['do', 'make'] });
    for (const method of ['secret', 'constructor', '__proto__', 'toString']) {
      await expect(ask(method)).rejects.toMatchObject({ code: 'SERVICE_UNKNOWN' });
    }
    await expect(access.call({ service: 'other', method: 'do', args: [] })).rejects.toMatchObject({
      code: 'SERVICE_UNKNOWN',
    });
    const natural = stage(() => ({ do: () => 1 }), ['toString']);
    await expect(natural.ask('toString')).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
  });

  it('is dead after its end: for what comes later, and for what is under way', async () => {
    const seen: ServiceCall[] = [];
    const { access, ask } = stage((call) => (seen.push(call), { do: () => new Promise(() => {}) }));
    const underWay = ask('do');
    access.close();
    await expect(underWay).rejects.toMatchObject({ code: 'SERVICE_TIMED_OUT' });
    expect(seen[0]!.signal.aborted).toBe(true);
    await expect(ask('do')).rejects.toMatchObject({ code: 'CALL_ENDED' });
    expect(seen).toHaveLength(1);
  });

  it('waits no longer than the deadline of one request', async () => {
    vi.useFakeTimers();
    const { ask } = stage(() => ({ do: () => new Promise(() => {}) }));
    const late = ask('do').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(SERVICE_LIMITS.requestMs);
    expect(await late).toMatchObject({ code: 'SERVICE_TIMED_OUT' });
  });

  it('bounds requests at a time, arguments and answers', async () => {
    const { access, ask } = stage(() => ({
      do: () => new Promise(() => {}),
      make: () => 'x'.repeat(SERVICE_LIMITS.answerBytes),
    }));
    await expect(ask('do', 'x'.repeat(SERVICE_LIMITS.argumentsBytes))).rejects.toMatchObject({
      code: 'SERVICE_INVALID',
    });
    await expect(ask('make')).rejects.toMatchObject({ code: 'SERVICE_TOO_LARGE' });
    const open = Array.from({ length: SERVICE_LIMITS.open }, () => ask('do').catch(() => undefined));
    await expect(ask('do')).rejects.toMatchObject({ code: 'SERVICE_BUSY' });
    access.close();
    await Promise.all(open);
  });

  it('passes on what a service says on purpose, and logs the rest', async () => {
    const said = stage(() => ({
      do: () => {
        throw new ServiceFailure('SHOP_CLOSED', 'Closed.');
      },
      make: () => {
        throw new Error('secret of the inside');
      },
    }));
    await expect(said.ask('do')).rejects.toMatchObject({ code: 'SHOP_CLOSED', message: 'Closed.' });
    const failed = await said.ask('make').catch((error: unknown) => error as Error);
    expect((failed as Error).message).not.toContain('secret');
    expect(failed).toMatchObject({ code: 'SERVICE_FAILED' });
    expect(said.errors).toHaveLength(1);
    expect(said.errors[0]).toMatchObject({ service: 'shop', method: 'make', callId: 'call-1' });
  });

  it('gives keys that are the same again when the call is run again, and each once', async () => {
    const keysOf = async (): Promise<unknown[]> => {
      const { ask } = stage(({ nextKey }) => ({ do: () => nextKey() }));
      return [await ask('do'), await ask('do')];
    };
    const keys = await keysOf();
    expect(new Set(keys).size).toBe(2);
    expect(await keysOf()).toEqual(keys);
  });
});
