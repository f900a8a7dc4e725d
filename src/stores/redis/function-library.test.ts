import { describe, expect, it } from 'vitest';
import { composeLibrary, functionCommand, readFunctions } from './function-library.ts';

const functions = readFunctions();
const highest = (source: string, name: string): number =>
  Math.max(0, ...[...source.matchAll(new RegExp(`\\b${name}\\[(\\d+)\\]`, 'g'))].map((match) => Number(match[1])));
const constant = (source: string, name: string): number => {
  const match = /local FIRST, STRIDE = (\d+), (\d+)/.exec(source);
  return Number(match?.[name === 'FIRST' ? 1 : 2] ?? 0);
};

describe.each([...functions.values()])('store function $name', (found) => {
  it('uses as many keys as its header names', () => {
    expect(highest(found.source, 'KEYS')).toBe(found.keys.length);
  });

  it('uses as many arguments as its header names', () => {
    expect(highest(found.source, 'ARGV')).toBe(found.args.length);
  });

  it('walks its batch as its header says', () => {
    const isBatch = found.each.length > 0;
    expect(found.source.includes('STRIDE')).toBe(isBatch);
    expect(constant(found.source, 'FIRST')).toBe(isBatch ? found.args.length + 1 : 0);
    expect(constant(found.source, 'STRIDE')).toBe(found.each.length);
    expect(Number(/local MORE_STRIDE = (\d+)/.exec(found.source)?.[1] ?? 0)).toBe(found.more.length);
  });

  it('answers with the words of its header and no others', () => {
    const words = [...found.source.matchAll(/'([A-Z_]{4,})'/g)].map((match) => match[1]!);
    const commands = [
      'INFO',
      'XPENDING',
      'XCLAIM',
      'XACK',
      'XDEL',
      'XADD',
      'XINFO',
      'XGROUP',
      'DELCONSUMER',
      'CONSUMERS',
      'IDLE',
      'JUSTID',
    ];
    const more = ['HMGET', 'HGET', 'HSET', 'HSETNX', 'HDEL', 'HINCRBY', 'HGETALL', 'HKEYS', 'ZCARD', 'ZADD', 'ZREM'];
    const rest = [
      'RPUSH',
      'LPOP',
      'HEXISTS',
      'SADD',
      'EXISTS',
      'PEXPIRE',
      'PEXPIREAT',
      'ZRANGEBYSCORE',
      'ZREMRANGEBYSCORE',
      'ZRANGE',
      'LIMIT',
      'XRANGE',
      'XLEN',
      'SCARD',
      'ZREVRANGE',
      'XREVRANGE',
      'LINDEX',
      'LTRIM',
      'LLEN',
      'COUNT',
      'LRANGE',
      'ZSCORE',
      'WITHSCORES',
    ];
    const answers = words.filter((word) => ![...commands, ...more, ...rest].includes(word));
    expect([...new Set(answers)].sort()).toEqual([...found.returns].sort());
  });

  it('stays small enough to be read at one sitting', () => {
    expect(found.source.split('\n').length).toBeLessThan(160);
  });
});

describe('the function library', () => {
  it('names every function with the version of the library', () => {
    const library = composeLibrary(functions);
    expect(library.startsWith('#!lua name=sallyport_1\n')).toBe(true);
    for (const name of functions.keys()) expect(library).toContain(`function_name = 'sp1_${name}'`);
  });

  it('passes arguments by name in the order of the header', () => {
    const found = functions.get('write_versioned')!;
    const command = functionCommand(found, { keys: { record: 'r' }, args: { body: 'b', digest: 'd', expected: 3 } });
    expect(command).toEqual(['FCALL', 'sp1_write_versioned', '1', 'r', '3', 'd', 'b']);
  });

  it('passes the rows after a batch behind one empty argument, and without rows ends with the batch', () => {
    const found = functions.get('settle_calls')!;
    const args = Object.fromEntries(found.args.map((name) => [name, name]));
    const keys = Object.fromEntries(found.keys.map((name) => [name, name]));
    const each = [Object.fromEntries(found.each.map((name) => [name, name]))];
    const more = [Object.fromEntries(found.more.map((name) => [name, `more ${name}`]))];
    const plain = functionCommand(found, { keys, args, each });
    expect(plain.slice(-found.each.length)).toEqual(found.each);
    expect(functionCommand(found, { keys, args, each, more: [] })).toEqual(plain);
    const rows = found.more.map((name) => `more ${name}`);
    expect(functionCommand(found, { keys, args, each, more })).toEqual([...plain, '', ...rows]);
  });

  it('refuses a call that leaves an argument out', () => {
    const found = functions.get('write_versioned')!;
    expect(() => functionCommand(found, { keys: { record: 'r' }, args: { body: 'b', digest: 'd' } })).toThrow(
      'expected',
    );
  });
});
