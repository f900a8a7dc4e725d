import type { JsonObject } from '../../../base/json.ts';
import type { Relation } from '../../../domain/ports/tool-services.ts';
import { sha256 } from '../../../base/sha256.ts';
import { ServiceFailure } from '../service-failure.ts';
import { busy } from '../storage/change-document.ts';
import type { Put, ScopedStore, StoredDocument } from '../storage/scoped-store.ts';
import { ENTITIES, unknownEntity } from './entities.ts';

export const RELATIONS = 'relations';

type Ends = Pick<Relation, 'from' | 'relation' | 'to'>;

export function relationId({ from, relation, to }: Ends): string {
  return sha256(JSON.stringify([from, relation, to])).slice(0, 24);
}

/** Labels the relation with both entities, so that it is found from either end. */
export function relationPut(relation: Relation, max?: number): Put {
  return {
    collection: RELATIONS,
    id: relationId(relation),
    body: JSON.stringify(relation),
    labels: [...new Set([relation.from, relation.to])],
    ...(max === undefined ? {} : { most: max }),
  };
}

export async function relate(
  store: ScopedStore,
  scope: string,
  requested: Ends & { readonly facts: JsonObject },
  max: number,
): Promise<Relation> {
  const relation: Relation = {
    from: requested.from,
    relation: requested.relation,
    to: requested.to,
    facts: requested.facts,
  };
  // Checked in the same step as the write: if an entity is deleted meanwhile, no relation to it is left behind.
  const checks = [requested.from, requested.to].map((id) => ({ collection: ENTITIES, id }));
  const answer = await store.commit(scope, { checks, puts: [relationPut(relation, max)] });
  if (answer.kind === 'committed') return relation;
  if (answer.kind === 'full') throw new ServiceFailure('KNOWLEDGE_FULL', `There are ${max} relations; delete some.`);
  const ends = await store.read(scope, ENTITIES, [requested.from, requested.to]);
  const missing = [requested.from, requested.to].find((_, index) => ends[index] === undefined);
  throw missing === undefined ? busy() : unknownEntity(missing);
}

export async function unrelate(store: ScopedStore, scope: string, ends: Ends): Promise<boolean> {
  const target = { collection: RELATIONS, id: relationId(ends) };
  return (await store.commit(scope, { checks: [target], deletes: [target] })).kind === 'committed';
}

export function toRelation({ body }: Pick<StoredDocument, 'body'>): Relation {
  return JSON.parse(body) as Relation;
}
