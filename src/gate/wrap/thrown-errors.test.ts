import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createGate } from '../../compose/create-gate.ts';
import { adviceOf } from './add-advice.ts';

class Sealed extends Error {
  readonly #code = 7;
  override get name(): string {
    return `Sealed${this.#code}`;
  }
}

/** What tools throw: each must reach the caller as the very same value, however often it is thrown. */
const THROWN: [string, () => unknown][] = [
  ['the error of AbortSignal.timeout', () => new DOMException('The operation timed out.', 'TimeoutError')],
  ['an error with private fields', () => new Sealed('closed')],
  ['a frozen error', () => Object.freeze(new RangeError('far'))],
  ['an aggregate', () => new AggregateError([new Error('one')], 'many')],
  ['text', () => 'no'],
  ['nothing', () => undefined],
  ['an object', () => ({ status: 500 })],
  [
    'a proxy that shows nothing',
    () =>
      new Proxy(new Error('x'), {
        get: () => expect.fail('read'),
        getPrototypeOf: () => {
          throw new TypeError('no prototype');
        },
      }),
  ],
];

describe('what a tool throws', () => {
  it.each(THROWN)('is %s, and stays it after ten throws', async (_what, make) => {
    const failing = createGate().wrapTool({
      name: 'failing',
      execute: async (input: { error: { value: unknown } }) => {
        throw input.error.value;
      },
    });
    for (let call = 1; call <= 15; call += 1) {
      const value = make();
      // Not enumerable, so that loop detection sees the same arguments in every call.
      const input = Object.defineProperty({}, 'error', { value: { value } }) as { error: { value: unknown } };
      const caught = await failing.execute(input).then(
        () => expect.fail('it ran'),
        // Wrapped in an object: if the promise resolved to the thrown value itself, it would read the value's `then`.
        (error: unknown) => ({ error }),
      );
      expect(Object.is(caught.error, value)).toBe(true);
    }
  });

  it('can be shown, and has its advice beside it', async () => {
    const failing = createGate().wrapTool({
      name: 'failing',
      execute: () => Promise.reject(new DOMException('late', 'TimeoutError')),
    });
    const errors: unknown[] = [];
    for (let call = 1; call <= 12; call += 1) errors.push(await failing.execute().catch((error: unknown) => error));
    for (const error of errors) {
      expect(error).toBeInstanceOf(DOMException);
      expect((error as DOMException).name).toBe('TimeoutError');
      expect(String(error)).toBe('TimeoutError: late');
      expect(inspect(error)).toMatch(/TimeoutError.*late/);
    }
    expect(errors.map((error) => adviceOf(error) !== undefined).indexOf(true) + 1).toBe(11);
    expect(adviceOf(errors[10])).toMatch(/failing/);
    expect([adviceOf('text'), adviceOf(null)]).toStrictEqual([undefined, undefined]);
  });
});

describe('advice that cannot be given', () => {
  it('never takes the place of a result', async () => {
    const policy = { loops: { default: { repeat: { warn: 1, block: 9 } } } };
    const addAdvice = (): never => {
      throw new Error('no place for advice');
    };
    const say = createGate({ policy, addAdvice }).wrapTool({ name: 'say', execute: async () => 'fine' });
    for (let call = 1; call <= 3; call += 1) expect(await say.execute()).toBe('fine');
  });
});
