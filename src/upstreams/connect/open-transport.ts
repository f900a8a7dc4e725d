import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { mkdirSync } from 'node:fs';
import type { JsonObject } from '../../base/json.ts';
import { fillReferences, findReferences } from '../../domain/secret/secret-reference.ts';
import type { SecretSource } from '../../domain/ports/secret-source.ts';
import type { Upstream } from '../../domain/upstream/upstream.ts';
import type { Taint } from '../../worker/secrets/taint.ts';
import { StdioTransport } from '../stdio/stdio-transport.ts';
import { UpstreamProblem } from '../upstream-problem.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { childEnvironment } from './child-environment.ts';

export interface TransportNeeds {
  readonly secrets: SecretSource;
  /** Receives the values of the credentials, so that they can be taken out of everything that the server sends. */
  readonly taint: Taint;
  /** The home folder of the program; made when it is needed. */
  readonly home: string;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly onPrinted: (line: string) => void;
}

/** Makes the transport to a server, with its credentials. It is not connected yet. Throws UpstreamProblem if a credential cannot be read. */
export async function openTransport({ address, limits }: Upstream, needs: TransportNeeds): Promise<Transport> {
  if (address.kind === 'stdio') {
    const declared = await fillIn(address.env, needs);
    mkdirSync(needs.home, { recursive: true, mode: 0o700 });
    return new StdioTransport({
      command: address.command,
      args: address.args,
      cwd: address.cwd ?? needs.home,
      env: childEnvironment(process.env, needs.home, declared),
      instance: needs.instance,
      messageBytes: limits.messageBytes,
      onPrinted: (line) => needs.onPrinted(needs.taint.scrubText(line, true)),
    });
  }
  const headers = await fillIn(address.headers, needs);
  const options = { requestInit: { headers }, fetch: boundedFetch(limits.messageBytes) };
  const url = new URL(address.url);
  return guardMessages(
    address.kind === 'http' ? new StreamableHTTPClientTransport(url, options) : new SSEClientTransport(url, options),
  );
}

/** Nothing that a server sends may end the worker: if a message cannot be handled, the connection is closed. */
function guardMessages(transport: Transport): Transport {
  let handle: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => handle,
    set(given: Transport['onmessage']) {
      handle =
        given &&
        ((message, extra) => {
          try {
            given(message, extra);
          } catch (error) {
            transport.onerror?.(error instanceof Error ? error : new Error('a message that cannot be handled'));
            void transport.close().catch(() => undefined);
          }
        });
    },
  });
  return transport;
}

async function fillIn(
  texts: Readonly<Record<string, string>>,
  { secrets, taint, signal }: TransportNeeds,
): Promise<Record<string, string>> {
  const values = new Map<string, string>();
  for (const name of findReferences({ ...texts }).names) {
    const read = await secrets.read(name, signal);
    if (read.kind === 'problem') throw new UpstreamProblem(`its secret ${name} could not be read: ${read.problem}`);
    taint.add(name, read.value);
    values.set(name, read.value);
  }
  return fillReferences({ ...texts } as JsonObject, (name) => values.get(name)) as Record<string, string>;
}
