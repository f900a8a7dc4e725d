import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { openLink, type ChaosLink } from './chaos-link.ts';
import { ChaosControl, type ChaosCounts, type ChaosMode } from './chaos-mode.ts';
import { freePort } from './process.ts';

export interface ChaosProxy {
  readonly port: number;
  /** The socket file that the proxy listens on, if its target is one. */
  readonly path: string | undefined;
  /** The `redis://` address of the proxy. */
  readonly url: string;
  readonly counts: Readonly<ChaosCounts>;
  readonly openConnections: number;
  /** Applies to open and new connections from the next byte on. */
  setMode(mode: ChaosMode): Promise<void>;
  /** Closes every open connection; the mode stays the same. */
  cut(): Promise<void>;
  stop(): Promise<void>;
}

/** The target of the proxy's connections: a port of this or another host, or a socket file. The proxy's own socket file is then next to it. */
export type ChaosTarget = { readonly port: number; readonly host?: string } | { readonly path: string };

/** A proxy in front of `target` that treats its connections as faulty networks do. It does not interpret the protocol. */
export async function startChaosProxy(target: ChaosTarget): Promise<ChaosProxy> {
  const control = new ChaosControl();
  const links = new Set<ChaosLink>();
  const port = 'path' in target ? 0 : await freePort();
  const path = 'path' in target ? `${target.path}.proxy` : undefined;
  const place = 'path' in target ? target : { host: target.host ?? '127.0.0.1', port: target.port };

  const listen = async (): Promise<Server> => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      control.counts.connections += 1;
      const link = openLink(client, place, control);
      links.add(link);
      void link.closed.then(() => links.delete(link));
    });
    if (path === undefined) server.listen(port, '127.0.0.1');
    else server.listen(path);
    await once(server, 'listening');
    return server;
  };
  let listening: Server | undefined = await listen();

  const cut = async (): Promise<void> => {
    const closed = [...links].map((link) => link.closed);
    for (const link of links) link.cut();
    await Promise.all(closed);
  };
  /** Closes only the listening socket. `close` leaves open connections alone, so its callback is not awaited. */
  const stopListening = (): void => {
    listening?.close();
    listening = undefined;
  };

  return {
    port,
    path,
    url: `redis://127.0.0.1:${port}`,
    counts: control.counts,
    get openConnections() {
      return links.size;
    },
    setMode: async (mode) => {
      if (mode.kind === 'refuse') stopListening();
      else listening ??= await listen();
      control.change(mode);
    },
    cut,
    stop: async () => {
      stopListening();
      control.change({ kind: 'pass' });
      await cut();
    },
  };
}
