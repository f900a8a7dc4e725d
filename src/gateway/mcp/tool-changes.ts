import type { SessionToolkit } from '../../client/session-toolkits.ts';
import type { McpCaller, McpShared } from './mcp-shared.ts';

export type ToolChange = 'tools' | 'resources' | 'prompts' | 'ended';

/**
 * Notifies a listener when the tools, resources or prompts that its bearer is shown have changed. `ended`: the bearer has no session any
 * more, so there is nothing left to watch.
 */
export type WatchTools = (caller: McpCaller, listener: (change: ToolChange) => void) => () => void;

interface Watch {
  readonly listeners: Set<(change: ToolChange) => void>;
  stop(): void;
}

/** Watches the store once per bearer and run, no matter how many streams listen. */
export function createToolChanges(shared: McpShared): WatchTools {
  const watches = new Map<string, Watch>();

  function begin(caller: McpCaller, key: string): Watch {
    const listeners = new Set<(change: ToolChange) => void>();
    let last: Digests | undefined;
    let stopped = false;
    let stopWatching: (() => void) | undefined;
    const end = (): void => {
      watches.delete(key);
      for (const listener of listeners) listener('ended');
    };
    const see = (toolkit: SessionToolkit | undefined): void => {
      if (toolkit === undefined) return end();
      const now = digestsOf(toolkit);
      for (const kind of ['tools', 'resources', 'prompts'] as const)
        if (last !== undefined && last[kind] !== now[kind]) for (const listener of listeners) listener(kind);
      last = now;
    };
    shared.handleOf(caller).then(
      (session) => {
        if (!stopped) stopWatching = shared.plane.client.watchToolkit(session, see);
      },
      () => void (stopped || end()),
    );
    const stop = (): void => {
      stopped = true;
      stopWatching?.();
    };
    return { listeners, stop };
  }

  return (caller, listener) => {
    const key = JSON.stringify([caller.bearer.id, caller.runName ?? '']);
    let watch = watches.get(key);
    if (watch === undefined) watches.set(key, (watch = begin(caller, key)));
    const own = watch;
    own.listeners.add(listener);
    return () => {
      own.listeners.delete(listener);
      if (own.listeners.size > 0) return;
      own.stop();
      if (watches.get(key) === own) watches.delete(key);
    };
  };
}

type Digests = Readonly<Record<'tools' | 'resources' | 'prompts', string>>;

/** Digests of what this bearer is shown. A catalog can change without a change to what the bearer sees. */
function digestsOf({ tools, surfaces }: SessionToolkit): Digests {
  const digestOf = (entries: SessionToolkit['tools']): string =>
    entries.map(({ tool }) => `${tool.id} ${tool.digest}`).join('\n');
  return {
    tools: digestOf(tools),
    resources: digestOf(surfaces.filter(({ tool }) => tool.surface?.kind === 'resource')),
    prompts: digestOf(surfaces.filter(({ tool }) => tool.surface?.kind === 'prompt')),
  };
}
