export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`, with user and password if needed. */
  readonly url?: string;
  readonly cluster?: readonly { readonly host: string; readonly port: number }[];
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[];
  readonly sentinelName?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** A command without an answer for so long is given up; it may have taken effect. */
  readonly commandTimeoutMs: number;
}

export interface RedisStoreOptions extends Partial<RedisConnectionOptions> {
  /** Several deployments can share a server under different names. */
  readonly name?: string;
  /** Only for a new store; an existing one keeps its number. */
  readonly lanes?: number;
  /** Make a store where there is none. Default: true. */
  readonly create?: boolean;
  readonly patienceMs?: number;
}
