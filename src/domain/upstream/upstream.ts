import type { Effect, ToolLimits } from '../tool/tool.ts';

/** A module whose tools live in an MCP server. The worker connects to the server, or starts it. */
export interface Upstream {
  /** The id of the module. */
  readonly id: string;
  readonly address: UpstreamAddress;
  /** Absent: the pool of the worker. */
  readonly pool?: string;
  /** Who shares one connection. Never subjects of two tenants, unless it is `everyone`. */
  readonly sharedBy: InstanceScope;
  readonly limits: UpstreamLimits;
  /** What the server may ask the caller for. Absent members: it may not. */
  readonly asks: Partial<Readonly<Record<'elicit' | 'sample' | 'roots', boolean>>>;
  /** Changes to single tools, by the name that the server gave them. */
  readonly tools: Readonly<Record<string, ToolOverride>>;
}

export const INSTANCE_SCOPES = ['session', 'subject', 'tenant', 'everyone'] as const;
export type InstanceScope = (typeof INSTANCE_SCOPES)[number];

export type UpstreamAddress = StdioAddress | HttpAddress;

/** A program that speaks MCP on its standard input and output. */
export interface StdioAddress {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The environment of the program, in addition to PATH, HOME and the locale. May refer to secrets: `Bearer ${secret:NAME}`. */
  readonly env: Readonly<Record<string, string>>;
}

export interface HttpAddress {
  /** `http`: Streamable HTTP. `sse`: the older transport with an event stream. */
  readonly kind: 'http' | 'sse';
  readonly url: string;
  /** Headers of each request. May refer to secrets, as `env` of a program. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpstreamLimits {
  /** Max connections of one worker to this server, which are as many processes for a program. */
  readonly instances: number;
  /** How long a start may take, until the server has answered the first request. */
  readonly startMs: number;
  /** A connection without calls for this long is closed. */
  readonly idleMs: number;
  /** How often the definitions are compared with the pins, in addition to each connection and each notice of the server. */
  readonly compareMs: number;
  /** Max size of one message of the server. */
  readonly messageBytes: number;
  /** Max resident memory of the program with everything that it started. */
  readonly memoryBytes: number;
}

export interface ToolOverride {
  readonly effect?: Effect;
  readonly serial?: boolean;
  readonly privileged?: boolean;
  /** The description for the model, in place of the server's. */
  readonly description?: string;
  readonly limits?: Partial<ToolLimits>;
  /** The tool is not published. */
  readonly hidden?: boolean;
}

const SECOND = 1000;
const MIB = 1024 * 1024;

export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = Object.freeze({
  instances: 16,
  startMs: 60 * SECOND,
  idleMs: 10 * 60 * SECOND,
  compareMs: 5 * 60 * SECOND,
  messageBytes: 24 * MIB,
  memoryBytes: 1024 * MIB,
});
