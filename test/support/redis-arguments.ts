import type { TlsFiles } from './tls-files.ts';

export interface RedisServerOptions {
  readonly appendfsync?: 'always' | 'everysec';
  readonly appendonly?: boolean;
  readonly maxmemory?: string;
  readonly maxmemoryPolicy?: string;
  /** One node that owns all 16384 slots: it refuses across slots what a real cluster refuses. */
  readonly cluster?: boolean;
  readonly tls?: TlsFiles;
  readonly password?: string;
  /** The user of an ACL file as which the test itself logs in, with `password`. Default: the default user. */
  readonly username?: string;
  /** More command line options, e.g. `['--replicaof', '127.0.0.1 7000']`. */
  readonly extra?: readonly string[];
  /** A data folder that the caller provides and also removes. */
  readonly directory?: string;
  readonly port?: number;
}

export interface RedisPlace {
  readonly port: number;
  readonly clusterPort: number;
  readonly directory: string;
}

export function redisServerArguments(options: RedisServerOptions, place: RedisPlace): string[] {
  const { port, clusterPort, directory } = place;
  const settings: [name: string, value: string][] = [
    ['bind', '127.0.0.1'],
    ['dir', directory],
    ['daemonize', 'no'],
    ['save', ''],
    ['appendonly', (options.appendonly ?? true) ? 'yes' : 'no'],
    ['appendfsync', options.appendfsync ?? 'everysec'],
    ['maxmemory-policy', options.maxmemoryPolicy ?? 'noeviction'],
    ['enable-debug-command', 'yes'],
    // Without these, SIGTERM waits up to 10 s for a replica that lags, and a first sync waits 5 s for more replicas.
    ['shutdown-timeout', '0'],
    ['repl-diskless-sync-delay', '0'],
  ];
  if (options.maxmemory !== undefined) settings.push(['maxmemory', options.maxmemory]);
  if (options.password !== undefined && options.username === undefined)
    settings.push(['requirepass', options.password]);
  if (options.tls === undefined) settings.push(['port', String(port)]);
  else settings.push(['port', '0'], ['tls-port', String(port)], ...tlsSettings(options.tls));
  if (options.cluster) {
    settings.push(['cluster-enabled', 'yes'], ['cluster-port', String(clusterPort)]);
    // A node without peers does not know its own address and reports "", with which ioredis Cluster hangs.
    settings.push(['cluster-announce-ip', '127.0.0.1']);
  }
  return [...settings.flatMap(([name, value]) => [`--${name}`, value]), ...(options.extra ?? [])];
}

function tlsSettings(tls: TlsFiles): [name: string, value: string][] {
  return [
    ['tls-cert-file', tls.certFile],
    ['tls-key-file', tls.keyFile],
    ['tls-ca-cert-file', tls.caFile],
    ['tls-auth-clients', 'no'],
  ];
}

export function redisUrl(options: RedisServerOptions, port: number): string {
  const scheme = options.tls === undefined ? 'redis' : 'rediss';
  const { username = '', password } = options;
  const login = password === undefined ? '' : `${username}:${encodeURIComponent(password)}@`;
  return `${scheme}://${login}127.0.0.1:${port}`;
}
