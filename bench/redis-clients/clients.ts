import { Command, Redis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis5';
import { LIBRARY, type Argument } from './batch-traffic.ts';

/** A client that sends bytes and receives bytes. */
export interface BenchClient {
  fcall(args: Argument[]): Promise<unknown>;
  close(): Promise<void>;
}

export const CLIENTS = {
  ioredis: openIoredis,
  'ioredis, own encoding': openIoredisWithOwnEncoding,
  'node-redis': openNodeRedis,
} as const;
export type ClientName = keyof typeof CLIENTS;

async function openIoredis(url: string): Promise<BenchClient> {
  const redis = await connectIoredis(url);
  return {
    fcall: (args) => redis.callBuffer('FCALL', args),
    close: async () => void (await redis.quit()),
  };
}

/** The store's own encoder, imported from this build because the package does not export it. */
const { encodeCommand } = (await import(new URL('../../stores/redis/encode-command.js', import.meta.url).href)) as {
  encodeCommand: (name: string, args: readonly Argument[]) => Buffer;
};

/** Replaces only the encoding. Connection, queue, timeouts and parser are the library's. */
class EncodedCommand extends Command {
  override toWritable(): Buffer {
    return encodeCommand(this.name, this.args as Argument[]);
  }
}

async function openIoredisWithOwnEncoding(url: string): Promise<BenchClient> {
  const redis = await connectIoredis(url);
  return {
    fcall: (args) => redis.sendCommand(new EncodedCommand('FCALL', args, { replyEncoding: null })) as Promise<unknown>,
    close: async () => void (await redis.quit()),
  };
}

/** Connects with the same settings as the store. */
async function connectIoredis(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    protocol: 2,
    replyMapping: 'legacy',
    enableOfflineQueue: false,
    lazyConnect: true,
    commandTimeout: 10_000,
  });
  await redis.connect();
  await redis.call('FUNCTION', ['LOAD', 'REPLACE', LIBRARY]);
  return redis;
}

async function openNodeRedis(url: string): Promise<BenchClient> {
  const client = createClient({ url, RESP: 2, disableOfflineQueue: true, commandOptions: { timeout: 10_000 } });
  client.on('error', (error: Error) => console.error(error.message));
  await client.connect();
  await client.sendCommand(['FUNCTION', 'LOAD', 'REPLACE', LIBRARY]);
  const inBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  return {
    fcall: (args) => client.sendCommand(['FCALL', ...args], inBytes),
    close: () => client.close(),
  };
}
