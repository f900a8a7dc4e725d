import type { JsonObject } from '../../../base/json.ts';
import type { Entity } from '../../../domain/ports/tool-services.ts';
import { sha256 } from '../../../base/sha256.ts';
import { termsOf } from '../search/terms.ts';
import { ServiceFailure } from '../service-failure.ts';
import { busy } from '../storage/change-document.ts';
import type { Put, ScopedStore, StoredDocument } from '../storage/scoped-store.ts';

export const ENTITIES = 'entities';
const MAX_TRIES = 20;

export type EntityBody = Omit<Entity, 'id'>;

/** The id depends only on type and name: two calls that put the same thing mean the same entity. */
function entityId({ type, name }: Pick<Entity, 'type' | 'name'>): string {
  const folded = (text: string): string => text.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
  return sha256(JSON.stringify([folded(type), folded(name)])).slice(0, 24);
}

export interface NewEntity {
  readonly name: string;
  readonly type: string;
  readonly text?: string | undefined;
  readonly facts: JsonObject;
}

export async function putEntity(
  store: ScopedStore,
  scope: string,
  requested: NewEntity,
  most: number,
): Promise<Entity> {
  const id = entityId(requested);
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const scopeVersion = await store.scopeVersion(scope);
    const [before] = await store.read(scope, ENTITIES, [id]);
    const body = changed(before, requested);
    const answer = await store.commit(scope, {
      // A new entity must still be new at the commit; a changed one must have the version that was read.
      ...(before === undefined
        ? { scopeVersion }
        : { checks: [{ collection: ENTITIES, id, version: before.version }] }),
      puts: [entityPut(id, body, most)],
    });
    if (answer.kind === 'committed') return { id, ...body };
    if (answer.kind === 'full') throw new ServiceFailure('KNOWLEDGE_FULL', `There are ${most} entities; delete some.`);
  }
  throw busy();
}

function changed(before: StoredDocument | undefined, { name, type, text, facts }: NewEntity): EntityBody {
  const known = before === undefined ? undefined : (JSON.parse(before.body) as EntityBody);
  const merged = Object.entries({ ...known?.facts, ...facts }).filter(([, value]) => value !== null);
  return {
    name: known?.name ?? name,
    type: known?.type ?? type,
    text: text ?? known?.text ?? '',
    facts: Object.fromEntries(merged),
  };
}

export function entityPut(id: string, body: EntityBody, most?: number): Put {
  return {
    collection: ENTITIES,
    id,
    body: JSON.stringify(body),
    terms: termsOf(`${body.name} ${body.type} ${body.text} ${factWords(body.facts)}`),
    ...(most === undefined ? {} : { most }),
  };
}

function factWords(facts: JsonObject): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ');
}

export async function readEntity(store: ScopedStore, scope: string, id: string): Promise<Entity | undefined> {
  const [found] = await store.read(scope, ENTITIES, [id]);
  return found === undefined ? undefined : toEntity(found);
}

export function findEntity(
  store: ScopedStore,
  scope: string,
  wanted: Pick<Entity, 'type' | 'name'>,
): Promise<Entity | undefined> {
  return readEntity(store, scope, entityId(wanted));
}

export function toEntity({ id, body }: Pick<StoredDocument, 'id' | 'body'>): Entity {
  return { id, ...(JSON.parse(body) as EntityBody) };
}

/** The text that is embedded for search by meaning. */
export function textOfEntity(body: string): string {
  const { name, type, text, facts } = JSON.parse(body) as EntityBody;
  return `${name} (${type}). ${text} ${factWords(facts)}`.trim();
}

export function unknownEntity(id: string): ServiceFailure {
  return new ServiceFailure('ENTITY_UNKNOWN', `There is no entity ${id}.`);
}
