import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { planeError } from '../domain/errors/errors.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { ServiceHealth } from '../domain/tool/service.ts';
import type { StoreOptions } from '../operate/open-store.ts';
import type { StopOrder, SupervisorSettings } from '../worker/supervise.ts';

export interface SupervisorSetup {
  readonly store: StoreOptions;
  readonly held: SharedArrayBuffer;
  readonly vitals: SharedArrayBuffer;
  readonly settings: SupervisorSettings;
  readonly health: { readonly host: string; readonly port: number } | undefined;
  /** Also serve `/metrics` on the health server. */
  readonly metrics: boolean;
}

export type SupervisorMessage =
  | { readonly kind: 'ready'; readonly healthUrl?: string }
  | { readonly kind: 'stop'; readonly order: StopOrder }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'scrape'; readonly id: number }
  | { readonly kind: 'reaped'; readonly callIds: readonly CallId[]; readonly overdue: boolean };

export type SupervisorOrder =
  | { readonly kind: 'close' }
  | { readonly kind: 'services'; readonly health: readonly ServiceHealth[] }
  | { readonly kind: 'modules'; readonly problems: readonly string[] }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string };

export interface Supervisor {
  readonly healthUrl: string | undefined;
  /** Rejects if the thread ends by itself: without it leases are not renewed, so the worker must not go on. */
  readonly failed: Promise<never>;
  /** Sets the health of the services that `/readyz` reports. */
  reportServices(health: readonly ServiceHealth[]): void;
  /** Sets the problems of modules that `/readyz` reports; empty when there are none. */
  setModuleProblems(problems: readonly string[]): void;
  close(): Promise<void>;
}

/** Starts the thread that renews the leases, whatever the tools do to the main thread. */
export async function startSupervisor(
  setup: SupervisorSetup,
  on: {
    stop: (order: StopOrder) => void;
    failed: (problem: string) => void;
    metricsText: () => Promise<string>;
    reaped: (callIds: readonly CallId[], overdue: boolean) => void;
  },
): Promise<Supervisor> {
  const thread = new Worker(compiledFile('compose/supervisor-thread.js'), { workerData: setup, name: 'supervisor' });
  let closing = false;
  let fail!: (error: unknown) => void;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  thread.on('error', fail);
  thread.once('exit', () => {
    if (!closing) fail(planeError('INTERNAL', { problem: 'the supervisor thread ended' }));
  });

  async function answerScrape(id: number): Promise<void> {
    const text = await on.metricsText().catch(() => '');
    thread.postMessage({ kind: 'metrics', id, text } satisfies SupervisorOrder);
  }

  const healthUrl = await new Promise<string | undefined>((resolve, reject) => {
    failed.catch(reject);
    thread.on('message', (message: SupervisorMessage) => {
      if (message.kind === 'ready') resolve(message.healthUrl);
      else if (message.kind === 'stop') on.stop(message.order);
      else if (message.kind === 'reaped') on.reaped(message.callIds, message.overdue);
      else if (message.kind === 'scrape') void answerScrape(message.id);
      else on.failed(message.problem);
    });
  });

  return {
    healthUrl,
    failed,
    reportServices: (health) => thread.postMessage({ kind: 'services', health } satisfies SupervisorOrder),
    setModuleProblems: (problems) => thread.postMessage({ kind: 'modules', problems } satisfies SupervisorOrder),
    async close() {
      closing = true;
      thread.postMessage({ kind: 'close' } satisfies SupervisorOrder);
      await exited;
    },
  };
}

/**
 * The path of a compiled file. Threads and child processes are started from compiled files: from the same build as this file, or from `dist`
 * when the sources themselves are run.
 */
function compiledFile(relativeToSource: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(
    new URL(isSource ? `../../dist/${relativeToSource}` : `../${relativeToSource}`, import.meta.url),
  );
}
