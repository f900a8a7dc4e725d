import { planeError } from '../../../../domain/errors/errors.ts';
import {
  openConnection,
  sendForBytes,
  sendTogether,
  toPlaneError,
  untilReady,
} from '../../../../stores/redis/connection.ts';
import type { RedisConnectionOptions } from '../../../../stores/redis/redis-options.ts';
import type { Batch, CommitAnswer, ListQuery, ScopedStore, StoredDocument, StoredVector } from '../scoped-store.ts';
import { functionName, isFunctionMissing, loadScopeFunctions, type ScopeFunction } from './scope-functions.ts';
import { pause } from '../../../../base/pause.ts';

export interface RedisScopesOptions extends Omit<RedisConnectionOptions, 'commandTimeoutMs'> {
  /** Name of the deployment: keys start with `{name:services:`. */
  readonly name?: string;
  readonly commandTimeoutMs?: number;
  readonly patienceMs?: number;
}

type Argument = string | Buffer;
type CommandLine = readonly [string, ...Argument[]];

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_PATIENCE_MS = 15_000;
const VECTORS_AT_ONCE = 500;

/**
 * Opens the store of services on Redis. All keys of a scope share one hash tag: a cluster keeps them on one node, and a function can change them in
 * one step.
 */
export async function openRedisScopes(options: RedisScopesOptions): Promise<ScopedStore> {
  const { name = 'sallyport', patienceMs = DEFAULT_PATIENCE_MS, commandTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const connection = openConnection({ ...options, commandTimeoutMs }, 'commands');
  const prefixOf = (scope: string): string => `{${name}:services:${scope}}:`;
  let closed = false;

  /**
   * Retries a command that may not have arrived, for up to `patienceMs`. So a commit can run twice; with an id or a key, its puts make no
   * second document.
   */
  async function withRetries<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    const giveUpAt = performance.now() + patienceMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        const plane = toPlaneError(error);
        const timeLeftMs = giveUpAt - performance.now();
        if (closed || timeLeftMs <= 0) throw plane;
        if (isFunctionMissing(plane)) {
          await loadScopeFunctions(connection);
          continue;
        }
        if (plane.code !== 'STORE_UNAVAILABLE') throw plane;
        await untilReady(connection, timeLeftMs);
        if (attempt > 1) await pause(Math.min(25 * attempt, 500));
      }
    }
  }

  function call(scope: string, named: ScopeFunction, args: readonly Argument[]): Promise<Buffer[]> {
    const prefix = prefixOf(scope);
    const all = [functionName(named), '1', `${prefix}meta`, prefix, ...args];
    return withRetries(() => sendForBytes(connection, 'FCALL', all, 3)) as Promise<Buffer[]>;
  }
  const together = (commands: readonly CommandLine[]): Promise<unknown[]> =>
    withRetries(() => sendTogether(connection, commands));
  const keyOf = (scope: string, collection: string, part: string): string => `${prefixOf(scope)}${collection}:${part}`;

  async function read(scope: string, collection: string, ids: readonly string[]) {
    if (ids.length === 0) return [];
    const [time, bodies] = await together([['TIME'], ['HMGET', keyOf(scope, collection, 'docs'), ...ids]]);
    const now = timeOf(time);
    return (bodies as (Buffer | null)[]).map((bytes, index) => parseDocument(ids[index]!, bytes, now));
  }

  async function newestIds(scope: string, collection: string, { label, before, limit }: ListQuery): Promise<string[]> {
    const key = keyOf(scope, collection, label === undefined ? 'order' : `label:${label}`);
    const highest = before === undefined ? '+inf' : `(${before}`;
    const [found] = await together([['ZREVRANGEBYSCORE', key, highest, '-inf', 'LIMIT', '0', String(limit)]]);
    return texts(found);
  }

  await untilReady(connection, patienceMs).catch((error: unknown) => {
    connection.disconnect();
    throw error;
  });
  try {
    await loadScopeFunctions(connection);
  } catch (error) {
    connection.disconnect();
    throw toPlaneError(error);
  }

  return {
    commit: async (scope, batch) => readCommit(await call(scope, 'commit-scope', commitArguments(batch))),
    read,
    async list(scope, collection, query) {
      const ids = await newestIds(scope, collection, query);
      return (await read(scope, collection, ids)).filter((document) => document !== undefined);
    },
    async postings(scope, collection, terms, limit) {
      const words = terms.map((term): CommandLine => {
        const key = keyOf(scope, collection, `word:${term}`);
        return ['ZREVRANGE', key, '0', String(limit - 1)];
      });
      const [documents, ...lists] = await together([['ZCARD', keyOf(scope, collection, 'order')], ...words]);
      return { documents: Number(documents), lists: lists.map(texts) };
    },
    async vectors(scope, collection, limit) {
      const ids = await newestIds(scope, collection, { limit });
      const found: StoredVector[] = [];
      for (let start = 0; start < ids.length; start += VECTORS_AT_ONCE) {
        const some = ids.slice(start, start + VECTORS_AT_ONCE);
        const documents = await read(scope, collection, some);
        const [vectors] = await together([['HMGET', keyOf(scope, collection, 'vectors'), ...some]]);
        for (const [index, document] of documents.entries()) {
          const vector = (vectors as (Buffer | null)[])[index] ?? undefined;
          if (document !== undefined) found.push({ id: document.id, version: document.version, vector });
        }
      }
      return found;
    },
    async keepVectors(scope, collection, vectors) {
      const args = vectors.flatMap(({ id, version, vector }) => [id, String(version), Buffer.from(vector)]);
      if (args.length > 0) await call(scope, 'keep-vectors', [collection, ...args]);
    },
    async scopeVersion(scope) {
      const [version] = await together([['HGET', `${prefixOf(scope)}meta`, 'version']]);
      return version === null ? 0 : Number((version as Buffer).toString());
    },
    async now() {
      const [time] = await together([['TIME']]);
      return timeOf(time);
    },
    async close() {
      closed = true;
      connection.disconnect();
    },
  };
}

function commitArguments({ scopeVersion, checks = [], deletes = [], puts = [], prune }: Batch): string[] {
  const counted = (list: readonly string[]): string[] => [String(list.length), ...list];
  return [
    scopeVersion === undefined ? '' : String(scopeVersion),
    prune?.collection ?? '',
    String(prune?.most ?? 0),
    String(checks.length),
    ...checks.flatMap(({ collection, id, version }) => [collection, id, version === undefined ? '' : String(version)]),
    String(deletes.length),
    ...deletes.flatMap(({ collection, id }) => [collection, id]),
    String(puts.length),
    ...puts.flatMap(
      ({ collection, id = '', key = '', keepOrder = false, ttlMs, most, body, labels = [], terms = [] }) => [
        collection,
        id,
        key,
        keepOrder ? '1' : '0',
        numberText(ttlMs),
        numberText(most),
        body,
        ...counted(labels),
        ...counted(terms),
      ],
    ),
  ];
}

function numberText(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}

function readCommit([word, ...rest]: readonly unknown[]): CommitAnswer {
  switch (String(word)) {
    case 'COMMITTED':
      return {
        kind: 'committed',
        documents: rest.map((head) => {
          const [id, version, order, at] = texts(head);
          return { id: id!, version: Number(version), order: Number(order), at: Number(at) };
        }),
      };
    case 'EXISTS':
      return { kind: 'exists', id: String(rest[0]) };
    case 'FULL':
      return { kind: 'full' };
    case 'CONFLICT':
      return { kind: 'conflict' };
    default:
      throw planeError('INTERNAL', { problem: 'a function of the services answered with an unknown word' });
  }
}

const HEAD = /^(\d+)\|(\d+)\|(\d+)\|(\d*)\|/;

function parseDocument(id: string, bytes: Buffer | null, now: number): StoredDocument | undefined {
  if (bytes === null) return undefined;
  const text = bytes.toString('utf8');
  const [head, version, order, at, expires] = HEAD.exec(text) ?? [];
  if (head === undefined) throw planeError('INTERNAL', { problem: 'a document of the services cannot be read' });
  if (expires !== '' && Number(expires) <= now) return undefined;
  return { id, version: Number(version), order: Number(order), at: Number(at), body: text.slice(head.length) };
}

function timeOf(answer: unknown): number {
  const [seconds, microseconds] = texts(answer);
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

function texts(answer: unknown): string[] {
  return (answer as unknown[]).map(String);
}
