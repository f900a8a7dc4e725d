import type { Entity, Relation } from '../../../domain/ports/tool-services.ts';
import { ServiceFailure } from '../service-failure.ts';
import { busy } from '../storage/change-document.ts';
import type { Batch, ScopedStore } from '../storage/scoped-store.ts';
import { ENTITIES, entityPut, toEntity, unknownEntity } from './entities.ts';
import { RELATIONS, relationId, relationPut, toRelation } from './relations.ts';

/** Max relations that are changed in one step. An entity with more of them cannot be merged or deleted until some relations are removed. */
const MAX_RELATIONS = 2000;
const MAX_TRIES = 20;
const MAX_CHARACTERS = 64 * 1024;

/**
 * Changes an entity together with its relations. The commit fails, and is retried, if anything in the scope changed after the relations were read.
 */
async function changeWithRelations<Result>(
  store: ScopedStore,
  scope: string,
  id: string,
  change: (relations: readonly Relation[]) => Promise<{ readonly batch: Batch; readonly result: Result } | undefined>,
): Promise<Result | undefined> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const scopeVersion = await store.scopeVersion(scope);
    const found = await store.list(scope, RELATIONS, { label: id, limit: MAX_RELATIONS + 1 });
    if (found.length > MAX_RELATIONS) {
      throw new ServiceFailure('KNOWLEDGE_FULL', `Entity ${id} has more than ${MAX_RELATIONS} relations.`);
    }
    const changed = await change(found.map(toRelation));
    if (changed === undefined) return undefined;
    const answer = await store.commit(scope, { ...changed.batch, scopeVersion });
    if (answer.kind === 'committed') return changed.result;
  }
  throw busy();
}

export async function deleteEntity(store: ScopedStore, scope: string, id: string): Promise<boolean> {
  const deleted = await changeWithRelations(store, scope, id, async (relations) => {
    const [found] = await store.read(scope, ENTITIES, [id]);
    if (found === undefined) return undefined;
    const deletes = [{ collection: ENTITIES, id }, ...relations.map(deletionOf)];
    return { batch: { deletes }, result: true };
  });
  return deleted ?? false;
}

export async function mergeEntities(store: ScopedStore, scope: string, from: string, into: string): Promise<Entity> {
  const merged = await changeWithRelations(store, scope, from, async (relations) => {
    const [lost, kept] = await store.read(scope, ENTITIES, [from, into]);
    if (lost === undefined || kept === undefined) throw unknownEntity(lost === undefined ? from : into);
    const [old, entity] = [toEntity(lost), toEntity(kept)];
    const { id, ...body } = entity;
    const texts = [entity.text, old.text].filter((text) => text !== '');
    const next = {
      ...body,
      text: [...new Set(texts)].join('\n').slice(0, MAX_CHARACTERS),
      facts: { ...old.facts, ...entity.facts },
    };
    const moved = relations
      .map((relation) => ({
        ...relation,
        from: relation.from === from ? into : relation.from,
        to: relation.to === from ? into : relation.to,
      }))
      // A relation between the two entities would now relate the merged entity to itself.
      .filter((relation) => relation.from !== relation.to);
    const puts = [entityPut(id, next), ...moved.map((relation) => relationPut(relation))];
    const deletes = [{ collection: ENTITIES, id: from }, ...relations.map(deletionOf)];
    return { batch: { deletes, puts }, result: { id, ...next } };
  });
  if (merged === undefined) throw unknownEntity(from);
  return merged;
}

function deletionOf(relation: Relation): { readonly collection: string; readonly id: string } {
  return { collection: RELATIONS, id: relationId(relation) };
}
