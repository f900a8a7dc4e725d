export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`, with user and password if needed. */
  readonly url?: string;
  readonly cluster?: readonly { readonly host: string; readonly port: number }[];
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[];
  readonly sentinelName?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** A command without an answer for this long times out. It may have taken effect. */
  readonly commandTimeoutMs: number;
}

export interface RedisStoreOptions extends Partial<RedisConnectionOptions> {
  /** Several deployments can share a server under different names. */
  readonly name?: string;
  /** For a new store only. An existing store keeps its number. */
  readonly lanes?: number;
  /** Create a store if there is none. Default: true. */
  readonly create?: boolean;
  readonly patienceMs?: number;
}
