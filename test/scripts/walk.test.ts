import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { instrument } from '../../scripts/walk/instrument.mjs';
import { measureWalk, readWalk, roomOf } from '../../scripts/walk/read-trace.mjs';
import { temporaryFolder } from '../support/process.ts';

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

/** Instruments the code, runs it, and gives its export `result` and the names of the functions it entered. */
async function run(code: string): Promise<{ result: unknown; entered: string[] }> {
  const folder = temporaryFolder('sallyport-walk');
  folders.push(folder);
  writeFileSync(
    join(folder.path, 'trace.mjs'),
    'export const seen = [];\nexport function enter(n) { seen.push(n); }\n',
  );
  const functions: { file: string; name: string }[] = [];
  writeFileSync(join(folder.path, 'code.mjs'), instrument('a/code.ts', code, './trace.mjs', functions));
  const load = (name: string): Promise<Record<string, unknown>> => import(pathToFileURL(join(folder.path, name)).href);
  const { result } = await load('code.mjs');
  const { seen } = await load('trace.mjs');
  return { result, entered: (seen as number[]).map((number) => functions[number]!.name) };
}

describe('instrument', () => {
  it.each([
    ['a declaration', 'function one() { return 1; }\nexport const result = one();', 1, ['one']],
    ['an arrow function', 'const two = () => 2;\nexport const result = two();', 2, ['two']],
    ['an object as an expression', 'const make = () => ({ a: 1 });\nexport const result = make();', { a: 1 }, ['make']],
    [
      'nested arrow functions',
      'const add = (a) => (b) => a + b;\nexport const result = add(1)(2);',
      3,
      ['add', 'anonymous function'],
    ],
    ['a callback', 'export const result = [1].map((n) => n + 1);', [2], ['callback of map']],
    [
      'a directive',
      "function strict() { 'use strict'; return this; }\nexport const result = strict();",
      undefined,
      ['strict'],
    ],
    [
      'a derived class',
      'class A { n = 1; }\nclass B extends A { constructor() { super(); this.n += 1; } get() { return this.n; } }\nexport const result = new B().get();',
      2,
      ['B.constructor', 'B.get'],
    ],
    ['an async function', 'async function later() { return 3; }\nexport const result = await later();', 3, ['later']],
    ['a generator', 'function* each() { yield 4; }\nexport const result = [...each()];', [4], ['each']],
    ['an accessor', 'const box = { get five() { return 5; } };\nexport const result = box.five;', 5, ['five']],
  ])('keeps what %s does, and names it', async (_, code, result, names) => {
    expect(await run(code)).toEqual({ result, entered: names });
  });
});

describe('a walk', () => {
  const functions = [
    { file: 'client/client.ts', name: 'call' },
    { file: 'stages/accept/accept.ts', name: 'prepare' },
    { file: 'client/timer.ts', name: 'beat' },
    { file: 'stores/redis/accept.ts', name: 'accept' },
  ];
  const trace = [
    'mark role 7 caller',
    '7.0 2',
    'mark begin',
    '7.0 0',
    '7.0 2',
    '7.0 1',
    '7.0 3',
    'mark end',
    'mark begin',
    '7.0 0',
    '7.0 1',
    '7.0 1',
    '7.0 3',
    '8.2 3',
    'mark end',
  ];

  it('is the shortest of the traced calls, each function once per thread', () => {
    const longer = [...trace.slice(0, 4), '7.0 2', '7.0 2', ...trace.slice(4)].join('\n');
    expect(readWalk(longer, functions).map(({ place, name }) => `${place}: ${name}`)).toEqual([
      'caller: call',
      'caller: prepare',
      'caller: accept',
      'thread of the store: accept',
    ]);
  });

  it('counts files, changes of file and changes of room', () => {
    const walk = readWalk(trace.slice(0, 8).join('\n'), functions);
    expect(measureWalk(walk)).toEqual({
      files: 4,
      functions: 4,
      hops: 3,
      rooms: 3,
      roomChanges: 2,
      pathRoomChanges: 2,
    });
  });

  it('counts the rooms of the path apart from base and domain', () => {
    const rooms = ['client', 'base', 'client', 'domain', 'stages/accept', 'base', 'stages/accept'];
    const walk = rooms.map((room, at) => ({ place: 'caller', file: `${room}/${at}.ts`, name: 'call', room }));
    expect(measureWalk(walk)).toMatchObject({ roomChanges: 6, pathRoomChanges: 1 });
  });

  it('refuses a trace without a whole call', () => {
    expect(() => readWalk('mark begin\n7.0 1\n', functions)).toThrow('holds no whole call');
  });

  it.each([
    ['data-path.ts', 'src'],
    ['domain/call.ts', 'domain'],
    ['gate/loop/finding.ts', 'gate'],
    ['stages/gate/gate.ts', 'stages/gate'],
    ['stores/redis/connection.ts', 'stores/redis'],
    ['stores/check-owed.ts', 'stores'],
  ])('takes %s to the room %s', (file, room) => {
    expect(roomOf(file)).toBe(room);
  });
});
