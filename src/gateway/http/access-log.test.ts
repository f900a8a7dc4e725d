import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Log } from '../../domain/ports/log.ts';
import { createAccessLog, type AccessLog } from './access-log.ts';
import type { Owner } from './in-flight.ts';
import { RateLimit } from './rate-limit.ts';

interface Line {
  readonly text: string;
  readonly path?: string;
  readonly tokenId?: string;
  readonly omitted?: number;
}

function startLog(limit?: RateLimit): { readonly lines: Line[]; readonly owned: Set<object>; readonly log: AccessLog } {
  const lines: Line[] = [];
  const owned = new Set<object>();
  const write = (facts: object, text: string): void => void lines.push({ ...facts, text });
  const log = { debug: () => undefined, info: write, warn: write, error: write } as unknown as Log;
  const owner = { auth: { id: 'token', via: 'token' }, bearer: '' } as unknown as Owner;
  const ownerOf = (incoming: object): Owner | undefined => (owned.has(incoming) ? owner : undefined);
  return { lines, owned, log: createAccessLog(log, { ownerOf }, limit) };
}

function answer({ log, owned }: ReturnType<typeof startLog>, path: string, isOwned = false): void {
  const incoming = { url: path, method: 'GET', socket: { destroyed: false } } as IncomingMessage;
  const outgoing = Object.assign(new EventEmitter(), { statusCode: 200 });
  if (isOwned) owned.add(incoming);
  log.follow(incoming, outgoing as unknown as ServerResponse, { requestId: 'r', address: '10.0.0.1', cameAt: 0 });
  outgoing.emit('finish');
  outgoing.emit('close');
}

describe('the access log', () => {
  it('logs a few requests without a valid token, and how many more there were', () => {
    const started = startLog(new RateLimit({ perSecond: 1, burst: 3 }, () => 0));
    for (let at = 0; at < 1000; at += 1) answer(started, `/v1/${at}`);
    started.log.close();
    expect(started.lines.map(({ path, omitted }) => path ?? omitted)).toEqual(['/v1/0', '/v1/1', '/v1/2', 997]);
    expect(started.lines.at(-1)?.text).toBe('more lines about requests without a valid token');
  });

  it('has a line for every request with a valid token, for any load of others', () => {
    const started = startLog(new RateLimit({ perSecond: 1, burst: 1 }, () => 0));
    for (let at = 0; at < 5; at += 1) {
      answer(started, '/stranger');
      answer(started, `/v1/${at}`, true);
    }
    const owned = started.lines.filter(({ tokenId }) => tokenId === 'token').map(({ path }) => path);
    expect(owned).toEqual(['/v1/0', '/v1/1', '/v1/2', '/v1/3', '/v1/4']);
  });

  it('limits by default, and says nothing at its end when nothing was left out', () => {
    const started = startLog();
    for (let at = 0; at < 10; at += 1) answer(started, '/x');
    started.log.close();
    expect(started.lines).toHaveLength(10);
    for (let at = 0; at < 1000; at += 1) answer(started, '/x');
    started.log.close();
    expect(started.lines.length).toBeLessThan(150);
  });

  it('counts failures of requests without a valid token among their lines, and has all others', () => {
    const started = startLog(new RateLimit({ perSecond: 1, burst: 3 }, () => 0));
    const owned = {} as IncomingMessage;
    started.owned.add(owned);
    for (let at = 0; at < 50; at += 1)
      started.log.failed({} as IncomingMessage, { path: 'stranger' }, 'a request failed');
    for (let at = 0; at < 5; at += 1) started.log.failed(owned, { path: 'caller' }, 'a request failed');
    answer(started, '/x');
    started.log.close();
    const paths = started.lines.map(({ path, omitted }) => path ?? omitted);
    expect(paths).toEqual([...Array<string>(3).fill('stranger'), ...Array<string>(5).fill('caller'), 48]);
  });
});
