import { readFileSync } from 'node:fs';
import { Cluster, Command, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { planeError, PlaneError } from '../../domain/errors/errors.ts';
import { encodeCommand, type Argument } from './encode-command.ts';
import type { RedisConnectionOptions } from './redis-options.ts';

export type Connection = Redis | Cluster;
type PlainOptions = RedisOptions & { replyMapping: 'legacy' };

/**
 * Opens a connection. This is the only file that knows the client library. The library never sends a command again by itself, because a lost answer
 * does not mean that nothing happened. The store decides whether to retry, and every script allows it.
 */
export function openConnection(options: RedisConnectionOptions, use: 'commands' | 'blocking'): Connection {
  const tls = tlsOptions(options);
  const common: PlainOptions = {
    protocol: 2,
    replyMapping: 'legacy',
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableReadyCheck: true,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
    connectTimeout: 5000,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1000),
    ...(use === 'commands' ? { commandTimeout: options.commandTimeoutMs } : {}),
    ...(options.username === undefined ? {} : { username: options.username }),
    ...(options.password === undefined ? {} : { password: options.password }),
    ...(tls === undefined ? {} : { tls }),
  };
  const connection = connect(options, common, tls);
  ignoreErrors(connection);
  return connection;
}

/** A private part of the library's connection object. */
interface Inner {
  readonly connector: { connect(emit: (type: string, error: Error) => void): Promise<NodeJS.EventEmitter> };
}

/**
 * Without a listener an error event would end the process; the commands themselves report the problem. The library listens only to the first error
 * of a socket. A TLS socket can have a second one: the client has rejected the server's certificate, and the server answers with an alert.
 */
function ignoreErrors(connection: Connection): void {
  connection.on('error', () => undefined);
  if (connection instanceof Cluster) {
    connection.on('+node', ignoreErrors);
    return;
  }
  const { connector } = connection as unknown as Inner;
  const connect = connector.connect.bind(connector);
  connector.connect = async (emit) => {
    const socket = await connect(emit);
    return socket.on('error', () => undefined);
  };
}

function connect(options: RedisConnectionOptions, common: PlainOptions, tls: RedisOptions['tls']): Connection {
  if (options.cluster !== undefined) {
    const cluster: ClusterOptions & { redisOptions: PlainOptions } = {
      redisOptions: common,
      enableOfflineQueue: false,
      lazyConnect: true,
      clusterRetryStrategy: (attempt) => Math.min(50 * attempt, 1000),
      // The server rejected a command for a moved slot, so sending it to another node does not repeat it.
      maxRedirections: 8,
      // Any value but 0 makes the library run a command again after a lost connection.
      retryDelayOnFailover: 0,
    };
    return new Cluster([...options.cluster], cluster);
  }
  if (options.sentinels !== undefined) {
    return new Redis({
      ...common,
      sentinels: [...options.sentinels],
      name: options.sentinelName ?? 'mymaster',
      // Without these the library would send everything unencrypted, whatever `tls` says.
      enableTLSForSentinelMode: tls !== undefined,
      ...(tls === undefined ? {} : { sentinelTLS: tls }),
    });
  }
  return new Redis(options.url ?? 'redis://127.0.0.1:6379', common);
}

function tlsOptions(options: RedisConnectionOptions): RedisOptions['tls'] | undefined {
  if (options.tls === undefined) return undefined;
  const { caFile, certFile, keyFile } = options.tls;
  return {
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
    ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
    ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
  };
}

/** Opens a connection to the same server without user and password. If the server refuses the connection, it is not opened again. */
export function openAnonymous(connection: Connection): Redis {
  if (connection instanceof Cluster) throw planeError('INTERNAL', { problem: 'a cluster has several servers' });
  const anonymous = connection.duplicate({
    username: undefined,
    password: undefined,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    commandTimeout: ANONYMOUS_TIMEOUT_MS,
  } as RedisOptions);
  ignoreErrors(anonymous);
  return anonymous;
}

const ANONYMOUS_TIMEOUT_MS = 5000;

/** The user that the connection logs in as. */
export function userOf(connection: Connection): string {
  const options: RedisOptions =
    connection instanceof Cluster ? (connection.options.redisOptions ?? {}) : connection.options;
  return options.username ?? 'default';
}

/**
 * What loading a library of functions did on a server. `there`: the server had the library of this release. `newer`: the server has the library of
 * a later release, which stays.
 */
export type LoadedLibrary = 'loaded' | 'there' | 'newer';

/** Summarizes in one word what loading a library did on the nodes of a cluster. */
export function summarizeNodes(answers: readonly LoadedLibrary[]): LoadedLibrary {
  return (['loaded', 'newer'] as const).find((answer) => answers.includes(answer)) ?? 'there';
}

/** How long to wait for a further node of a cluster, which is connected at its first use. */
export const NODE_READY_TIMEOUT_MS = 5000;

/**
 * Resolves when commands can be sent. After `waitMs` it throws STORE_UNAVAILABLE, or STORE_LOGIN if the server rejected the password. With `login:
 * 'first'`, for a process that starts, STORE_LOGIN is thrown at once. A running process waits, because the password may be about to change.
 */
export async function untilReady(connection: Connection, waitMs: number, login?: 'first'): Promise<void> {
  if (connection.status === 'ready') return;
  if (connection.status === 'wait') connection.connect().catch(() => undefined);
  let lastProblem = 'no answer';
  const failure = (): PlaneError =>
    isLoginRefused(lastProblem) ? refused(connection, lastProblem) : unavailable(lastProblem);
  await new Promise<void>((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      connection.off('ready', onReady);
      connection.off('error', onError);
      connection.off('end', onEnd);
      act();
    };
    const onReady = (): void => finish(resolve);
    const onError = (error: Error): void => {
      lastProblem = problemOf(error);
      if (login === 'first' && isLoginRefused(lastProblem)) finish(() => reject(failure()));
    };
    const onEnd = (): void => finish(() => reject(unavailable('the connection was closed')));
    const timer = setTimeout(() => finish(() => reject(failure())), waitMs);
    connection.on('ready', onReady);
    connection.on('error', onError);
    connection.on('end', onEnd);
  });
}

export function sendCommand(connection: Connection, name: string, args: readonly Argument[]): Promise<unknown> {
  return connection.call(name, [...args]);
}

/** Returns the servers that hold data: the only one, or the masters of a cluster. */
export function mastersOf(connection: Connection): Connection[] {
  return connection instanceof Cluster ? connection.nodes('master') : [connection];
}

/**
 * A command that this class encodes instead of the client library. The library copies and inspects every argument it is given, and a batch
 * has hundreds of them. So the library gets only the first `shown` arguments, in which it finds the node of a cluster.
 */
class EncodedCommand extends Command {
  readonly #all: readonly Argument[];

  constructor(name: string, args: readonly Argument[], shown: number) {
    super(name, args.slice(0, shown) as string[], { replyEncoding: null });
    this.#all = args;
  }

  override toWritable(): Buffer {
    return encodeCommand(this.name, this.#all);
  }
}

/** Sends a command and returns bytes. The first `shown` arguments must contain all keys. */
export function sendForBytes(
  connection: Connection,
  name: string,
  args: readonly Argument[],
  shown: number = args.length,
): Promise<unknown> {
  return connection.sendCommand(new EncodedCommand(name, args, shown)) as Promise<unknown>;
}

/** Sends several commands in one write and returns their answers as bytes. Throws the first error. */
export async function sendTogether(
  connection: Connection,
  commands: readonly (readonly [string, ...Argument[]])[],
): Promise<unknown[]> {
  if (connection instanceof Redis) return sendInOrder(connection, commands);
  const pipeline = connection.pipeline();
  for (const [name, ...args] of commands) pipeline.callBuffer(name, ...args);
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
}

/** Works like a pipeline of the library, but without the bookkeeping that the library needs only for redirections in a cluster. */
function sendInOrder(connection: Redis, commands: readonly (readonly [string, ...Argument[]])[]): Promise<unknown[]> {
  const { stream } = connection;
  stream?.cork();
  try {
    return Promise.all(commands.map(([name, ...args]) => sendForBytes(connection, name, args)));
  } finally {
    stream?.uncork();
  }
}

/** Returns the message of the node's error, which the client of a cluster hides. */
function problemOf(error: Error & { lastNodeError?: Error }): string {
  return error.lastNodeError?.message ?? error.message;
}

function isLoginRefused(problem: string): boolean {
  return /\b(WRONGPASS|NOAUTH)\b/.test(problem);
}

function refused(connection: Connection, problem: string): PlaneError {
  return planeError('STORE_LOGIN', {
    user: userOf(connection),
    problem: withoutCredentials(problem).replace(/\.$/, ''),
  });
}

function unavailable(problem: string): PlaneError {
  return planeError('STORE_UNAVAILABLE', { problem: withoutCredentials(problem) });
}

/** Attack: a message of the client may quote the address with the password, and end up in a log. */
function withoutCredentials(text: string): string {
  return text.replaceAll(/\/\/[^@/\s]*@/g, '//***@');
}

/** Converts an error. An error of the server starts with a word in capitals. Every other error comes from the connection and may be retried. */
export function toPlaneError(thrown: unknown): PlaneError {
  if (thrown instanceof PlaneError) return thrown;
  const message = withoutCredentials(thrown instanceof Error ? thrown.message : String(thrown));
  // The library's own error contains the whole command with its arguments; those must not reach a log.
  const error = new Error(message);
  const word = /^([A-Z]+)\b/.exec(message)?.[1];
  if (word === 'REPLACED' || word === 'NOGROUP') {
    return planeError('STORE_REPLACED', { expected: 'the incarnation of the start', found: 'another or none' }, error);
  }
  if (word === 'OOM' || word === 'MISCONF' || word === 'NOREPLICAS') {
    return planeError('STORE_FULL', { problem: message }, error);
  }
  if (/\bNOPERM\b/.test(message)) return planeError('STORE_FORBIDDEN', { problem: message.replace(/\.$/, '') }, error);
  if (word !== undefined && !RETRYABLE_WORDS.includes(word)) {
    return planeError('STORE_FAILED', { problem: message }, error);
  }
  return planeError('STORE_UNAVAILABLE', { problem: message }, error);
}

const RETRYABLE_WORDS = [
  'LOADING',
  'BUSY',
  'TRYAGAIN',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'READONLY',
  'UNBLOCKED',
  'ECONNREFUSED',
  'ECONNRESET',
];
