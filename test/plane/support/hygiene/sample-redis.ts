import { Redis } from 'ioredis';
import type { Sample } from './sample.ts';

const SIZE_OF: Readonly<Record<string, string>> = {
  hash: 'HLEN',
  list: 'LLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  stream: 'XLEN',
};
const OWN_NAME = 'hygiene';

export interface RedisWatch {
  sample(sample: Sample): Promise<void>;
  /** Closes all client connections except its own, as a disturbance. */
  killClients(): Promise<void>;
  readonly redis: Redis;
  close(): void;
}

export async function watchRedis(url: string): Promise<RedisWatch> {
  const redis = new Redis(url, { connectionName: OWN_NAME, lazyConnect: true });
  await redis.connect();
  return {
    redis,
    async sample(sample) {
      const keys = await scan(redis);
      await sampleKeys(redis, sample, keys);
      await sampleGroups(redis, sample, keys);
      const clients = ((await redis.client('LIST')) as string)
        .split('\n')
        .filter((line) => line !== '' && !line.includes(`name=${OWN_NAME} `));
      sample.count('redis clients', clients.length, clients.map(describeClient));
      const memory = await redis.info('memory');
      sample.measure('redis memory', Number(/^used_memory:(\d+)/m.exec(memory)?.[1]));
    },
    killClients: async () => void (await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
    close: () => redis.disconnect(),
  };
}

/** The fields that identify the owner of a connection, out of about thirty. */
function describeClient(line: string): string {
  return line
    .split(' ')
    .filter((field) => /^(addr|name|age|idle|cmd)=/.test(field))
    .join(' ');
}

async function scan(redis: Redis): Promise<string[]> {
  const keys: string[] = [];
  let cursor = '0';
  do {
    const [next, some] = await redis.scan(cursor, 'COUNT', 1000);
    keys.push(...some);
    cursor = next;
  } while (cursor !== '0');
  return [...new Set(keys)].sort();
}

/** The pattern of a key: `{sallyport:0}:reply:K3f…` belongs to `reply:*`. The part after the first word names one item. */
export function patternOf(key: string): string {
  const [, deployment = key] = /^\{[^}]*\}:(.*)$/.exec(key) ?? [];
  const [kind = '', ...rest] = deployment.split(':');
  return rest.length === 0 || /^(pool|approvals|callbacks|outbound|tokens)$/.test(kind) ? deployment : `${kind}:*`;
}

async function sampleKeys(redis: Redis, sample: Sample, keys: readonly string[]): Promise<void> {
  const types = await Promise.all(keys.map((key) => redis.type(key)));
  const sizes = await Promise.all(
    keys.map(async (key, index) => {
      const command = SIZE_OF[types[index]!];
      return command === undefined ? undefined : Number(await redis.call(command, key).catch(() => 0));
    }),
  );
  for (const [index, key] of keys.entries()) {
    if (types[index] === 'none') continue;
    sample.count(`redis keys: ${patternOf(key)}`, 1, [key]);
    const size = sizes[index];
    if (size !== undefined) sample.count(`redis members: ${patternOf(key)}`, size, [`${key}: ${size}`]);
  }
}

async function sampleGroups(redis: Redis, sample: Sample, keys: readonly string[]): Promise<void> {
  for (const key of keys.filter((each) => /:pool:/.test(each))) {
    const groups = (await redis.call('XINFO', 'GROUPS', key).catch(() => [])) as unknown[][];
    for (const group of groups) {
      const name = String(group[1]);
      const consumers = (await redis.call('XINFO', 'CONSUMERS', key, name).catch(() => [])) as unknown[][];
      sample.count(`redis groups: ${patternOf(key)}`, 1, [name]);
      sample.count(
        `redis consumers: ${patternOf(key)}`,
        consumers.length,
        consumers.map((facts) => `${String(facts[1])}, ${String(facts[3])} pending`),
      );
      sample.count(
        `redis pending: ${patternOf(key)}`,
        consumers.reduce((sum, facts) => sum + Number(facts[3]), 0),
      );
    }
  }
}
