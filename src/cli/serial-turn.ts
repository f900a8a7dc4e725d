import type { Client } from '../client/client.ts';
import type { CallRecord } from '../domain/call/call.ts';
import { indexTools, type Catalog } from '../domain/tool/catalog.ts';
import { parseScopedId, type CallId, type ToolId } from '../domain/identity/ids.ts';
import type { CallHolders, CallList, CallReader } from '../domain/ports/call-store.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { CommandContext } from './command-context.ts';
import { withHolders, type LiveCall } from './live-calls.ts';
import { asCallId } from './read-known-call.ts';
import { withStore } from './with-store.ts';

/** The store orders live calls by deadline and has no filter, so all of them are read. */
const ALL = 100_000;

type Needs = CallReader & CallList & CallHolders & CatalogReader;

/**
 * Finds the call that has the turn of a `serial` tool while `callId` waits for it. Undefined if `callId` is not queued or its tool is not
 * serial. A parked call keeps its turn, so the result may be a call that waits for an approver.
 */
export async function findTurnHolder(store: Needs, callId: CallId): Promise<LiveCall | undefined> {
  const call = await store.readCall(callId);
  if (call?.state !== 'queued') return undefined;
  if (!isSerial(await store.readCatalog(), call.tool)) return undefined;
  const live = await store.listCalls({ limit: ALL });
  const [self, ...earlier] = await withHolders(store, [call, ...live.filter((other) => isAhead(other, call))]);
  if (self!.worker !== undefined) return undefined;
  return earlier.find(({ state }) => state !== 'queued') ?? earlier.toSorted(byAge)[0];
}

/**
 * Describes in a sentence for the caller which call has the turn. Undefined if there is none, or if this user may not list calls, as the
 * Redis role of a caller may not.
 */
export async function readTurn(
  context: CommandContext,
  client: Pick<Client, 'catalog'>,
  { tool, callId }: { readonly tool: string; readonly callId: string },
): Promise<string | undefined> {
  try {
    if (!isSerial(await client.catalog(), tool)) return undefined;
    const holder = await withStore(context, (store) => findTurnHolder(store, asCallId(callId)));
    return holder === undefined ? undefined : describeTurn(holder);
  } catch {
    return undefined;
  }
}

/** For example: `waits for an earlier call of notes.add, a serial tool: 0.x.y (a person is asked: 0.x.z)` */
export function describeTurn({ callId, tool, state, approval }: LiveCall): string {
  const how = state === 'parked' && approval !== undefined ? `a person is asked: ${approval}` : state;
  return `waits for an earlier call of ${tool}, a serial tool: ${callId} (${how})`;
}

function isSerial(catalog: Catalog, tool: string): boolean {
  return indexTools(catalog).get(tool as ToolId)?.tool.serial === true;
}

function isAhead(other: CallRecord, call: CallRecord): boolean {
  if (other.tool !== call.tool || other.callId === call.callId || other.acceptedAt > call.acceptedAt) return false;
  return parseScopedId(other.callId)?.scope === parseScopedId(call.callId)?.scope;
}

function byAge(one: CallRecord, other: CallRecord): number {
  return one.acceptedAt - other.acceptedAt;
}
