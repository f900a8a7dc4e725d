import type { ClientFile, ClientName } from './client-files.ts';
import type { ServerGroup } from './parsed-client-file.ts';

/** A server that its client starts as a process. */
export interface LocalConnection {
  readonly kind: 'local';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd: string | undefined;
}

/** A server that its client reaches over HTTP. */
export interface RemoteConnection {
  readonly kind: 'remote';
  readonly url: string;
  readonly transport: 'http' | 'sse';
  readonly headers: ReadonlyMap<string, string>;
}

export type Connection = LocalConnection | RemoteConnection;

/** The place of a server's entry in a file of a client. */
export interface EntryPlace {
  readonly file: ClientFile;
  readonly client: ClientName | undefined;
  readonly group: ServerGroup;
  readonly name: string;
  readonly line: number;
  /** The lines of its variables and headers, by their names. */
  readonly settingLines: ReadonlyMap<string, number>;
}

export interface ClientServer {
  readonly place: EntryPlace;
  readonly connection: Connection;
  /** The client does not start it. */
  readonly disabled: boolean;
  /** Members that Sallyport does not take over. */
  readonly ignored: readonly string[];
}

/** An entry that cannot become an upstream. */
export interface UnusableServer {
  readonly place: EntryPlace;
  readonly problem: string;
}
