/** Each kind of id is a string type with its own brand, so that the compiler refuses a call id where a session id is expected. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type CallId = Branded<'CallId'>;
export type SessionId = Branded<'SessionId'>;
export type RunId = Branded<'RunId'>;
/** `module.tool` */
export type ToolId = Branded<'ToolId'>;
export type CallerId = Branded<'CallerId'>;
export type WorkerId = Branded<'WorkerId'>;

/** Names of modules, tools, pools and agents: they become parts of keys, paths and provider names. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function toolId(module: string, tool: string): ToolId {
  return `${module}.${tool}` as ToolId;
}

/**
 * The queue for nested calls of a pool. A worker runs them in slots of their own: one for each of its calls that waits for a nested call,
 * and one more. In one shared queue, nested calls would wait behind other parent calls. If parents that wait for nested calls held all
 * slots, no call could continue.
 */
export function nestedPool(pool: string): string {
  return `${pool}~nested`;
}

/** Prefix of private pools. No name of a pool can contain it, so no worker can be configured to serve a private pool. */
const PRIVATE_POOL = 'caller~';

/** The queue for calls of pinned tools. Only the caller's own process reads it. */
export function privatePool(secret: string): string {
  return PRIVATE_POOL + secret;
}

export function isPrivatePool(pool: string): boolean {
  return pool.startsWith(PRIVATE_POOL);
}

/** Splits `module.tool`; undefined if the text does not have exactly this form. */
export function splitToolId(id: string): { module: string; tool: string } | undefined {
  const dot = id.indexOf('.');
  if (dot < 0) return undefined;
  const module = id.slice(0, dot);
  const tool = id.slice(dot + 1);
  return NAME_PATTERN.test(module) && NAME_PATTERN.test(tool) ? { module, tool } : undefined;
}

/**
 * Call and session ids have the form `<lane>.<scope>.<rest>`. The lane determines where all keys of the subject are stored. The scope is a
 * digest of (tenant, subject), so that the store can refuse a key of another subject by comparing prefixes. If a key was released and is
 * used again, the next calls have the ids `<id>~2`, `<id>~3`, …
 */
const SCOPED_ID = /^(\d{1,4})\.([A-Za-z0-9_-]{12})\.([A-Za-z0-9_-]{22})(?:~(\d{1,6}))?$/;

export function parseScopedId(
  id: string,
): { lane: number; scope: string; rest: string; generation: number } | undefined {
  const match = SCOPED_ID.exec(id);
  if (!match) return undefined;
  return {
    lane: Number(match[1]),
    scope: match[2]!,
    rest: match[3]!,
    generation: match[4] === undefined ? 1 : Number(match[4]),
  };
}

/** The lane of a call or session id; -1 for a text that is not such an id. Cheaper than parsing the whole id. */
export function laneOfScopedId(id: string): number {
  return SCOPED_ID.test(id) ? Number.parseInt(id, 10) : -1;
}
