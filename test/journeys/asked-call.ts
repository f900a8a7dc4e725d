import type { CallToolResult } from '@modelcontextprotocol/client';

/** The address that a client connects to, and the token that it sends. */
export interface Door {
  readonly url: string;
  readonly token: string;
}

/** A call that needs an approval, as its client sees it. */
export interface AskedCall {
  /** What the client gets while the call waits: the text of a form, of a pending result, or of a task. */
  readonly told: Promise<string>;
  /** Resolves with the result of the call. If its gateway went away, the client connects again with what it remembers. */
  end(): Promise<CallToolResult>;
  /** How often the client had to make the call, under one key. */
  sent(): number;
}

export interface AskingClient {
  ask(tool: string, args: Readonly<Record<string, unknown>>): AskedCall;
  close(): Promise<void>;
}

/** How long a client whose gateway went away tries again. */
export const BACK = { timeoutMs: 90_000, everyMs: 200, what: 'the gateway to be back' };
