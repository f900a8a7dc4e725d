import { createClient, type Client } from '../client/client.ts';
import { unknownActor, type Actor } from '../domain/identity/actor.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AdmissionLimits } from '../domain/ports/call-requests.ts';
import { createEventBus } from '../observe/event-bus.ts';
import { SILENT } from '../observe/log.ts';
import type { Telemetry, TelemetryOptions } from '../observe/telemetry.ts';
import { createRefusalLog } from '../observe/refusal-log.ts';
import type { DiagnosticListener, DiagnosticSubscription, EventSource } from '../domain/ports/events.ts';
import type { Log } from '../domain/ports/log.ts';
import type { PinnedRoute } from '../domain/ports/pinned-route.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';
import type { CallerStore } from '../domain/ports/store.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { DEFAULT_ADMISSION, DEFAULT_RETENTION_MS } from '../operate/defaults.ts';
import { openStore, type StoreOptions } from '../operate/open-store.ts';
import { RELEASE } from '../base/release.ts';

export interface ClientOptions {
  readonly admission?: Partial<AdmissionLimits>;
  /** How long the outcome of a cancelled call is kept. */
  readonly retentionMs?: number;
  /** The pinned tools that `servePinned` serves in this process. Calls of these tools then run in this process. */
  readonly pinned?: PinnedRoute;
  /** Logs, with a rate limit, requests that were refused before they were accepted. Such a request is not a call, so it is not in the audit. */
  readonly log?: Pick<Log, 'warn'>;
  /**
   * The name of this program in the audit records of sessions that it opens and revokes, and of agents that it declares. The program chooses the
   * name; it is not verified. Without it the records say `unknown`.
   */
  readonly label?: string;
  /** Used instead of the label when it is known who uses the client. */
  readonly actor?: Actor;
  /** Receives the diagnostic events of this client. More listeners can subscribe with `client.events`. */
  readonly onEvent?: DiagnosticListener | DiagnosticSubscription;
}

export type ConnectOptions = StoreOptions &
  ClientOptions & {
    /** Sends spans of the calls made here to a collector. Absent: no spans are sent. */
    readonly telemetry?: Pick<TelemetryOptions, 'traces'>;
  };

/** Opens a connection for callers. Never loads tool code. */
export async function connect(options: ConnectOptions): Promise<Client> {
  const client = createClientOf(await openStore(options), options);
  if (options.telemetry === undefined) return client;
  try {
    const telemetry = await followCalls(client.events, options.telemetry, options.log);
    return {
      ...client,
      async close() {
        await client.close();
        await telemetry?.close();
      },
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Creates a client for a store that is already open. Closing the client closes the store. */
export function createClientOf(store: CallerStore & PolicyWriter, options: ClientOptions): Client {
  const events = createEventBus({ onError: warn });
  if (options.onEvent !== undefined) events.subscribe(options.onEvent);
  const actor = options.actor ?? actorOf(options.label);
  const client = createClient(store, {
    actor,
    admission: { ...DEFAULT_ADMISSION, ...options.admission },
    retentionMs: options.retentionMs ?? DEFAULT_RETENTION_MS,
    pinned: options.pinned,
    events,
  });
  return {
    ...client,
    ...logRefusals(client, options.log),
    async declareAgents(agents, declaring) {
      // Loaded only when used: the checks are a lot of code, and most callers declare no agents.
      const { declareAgents } = await import('../operate/declare-agents.ts');
      return declareAgents(store, agents, { actor }, declaring);
    },
  };
}

function actorOf(label: string | undefined): Actor {
  if (label === undefined) return unknownActor('client');
  if (typeof label !== 'string' || label === '' || label.length > MAX_LABEL_LENGTH || /\p{Cc}/u.test(label)) {
    const problem = `label must be text of 1 to ${MAX_LABEL_LENGTH} characters without control characters`;
    throw planeError('CONFIG_INVALID', { problems: [problem] });
  }
  return { by: `program ${label}`, via: 'client' };
}

const MAX_LABEL_LENGTH = 100;

/** Starts telemetry for the calls of a client. Its code is loaded only if traces are configured. */
async function followCalls(
  events: EventSource,
  { traces }: Pick<TelemetryOptions, 'traces'>,
  log: Pick<Log, 'warn'> = { warn: (_, problem) => warn(problem) },
): Promise<Telemetry | undefined> {
  if (traces === undefined) return undefined;
  const { startTelemetry } = await import('../observe/telemetry.ts');
  const needs = { role: 'client', release: RELEASE, instance: randomId(), log: { ...SILENT, ...log } } as const;
  const telemetry = await startTelemetry({ traces }, needs);
  telemetry?.follow(events);
  return telemetry;
}

/** Wraps `call` and `close` so that refused requests are logged. Without a log the client's own functions stay as they are. */
function logRefusals(
  client: Pick<Client, 'call' | 'close'>,
  log: ConnectOptions['log'],
): Partial<Pick<Client, 'call' | 'close'>> {
  if (log === undefined) return {};
  const refusals = createRefusalLog(log);
  return {
    async call(session, tool, args, options) {
      const answer = await client.call(session, tool, args, options);
      if (answer.kind === 'refused') {
        refusals.note({ session: String(session.id), tool: String(tool), outcome: answer.outcome });
      }
      return answer;
    },
    async close() {
      refusals.close();
      await client.close();
    },
  };
}

function warn(problem: string, error?: unknown): void {
  process.emitWarning(error instanceof Error ? error : problem, { code: 'SALLYPORT_EVENTS', detail: problem });
}
